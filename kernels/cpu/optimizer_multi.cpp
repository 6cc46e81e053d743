#include <cmath>
#include <cstring>

#include "taper/kernels/cpu/optimizer_list.h"
#include "taper/kernels/cpu/reduce_floating.h"
#include "taper/kernels/cpu/reduce_rows.h"

// What clipping, gradient scaling and zero_grad do to a whole list of tensors.

TAPER_CPU_BEGIN

namespace {

/// Norms of all gradients with the map and fold of one reduction op: runs of 4096 in the dtype's
/// own accumulator, between them in double, in an order that the sizes alone decide.
template <class Op, class T>
Status norms_with(void* norms, const OptimizerArgs& args, double p, const Stream& stream) {
  const TensorList list(args, kReduceBlock, stream);
  if (!list.ok()) return list.failure();
  Scratch<acc_t<T>> partials(stream, list.units());
  if (list.units() > 0 && !partials.get()) return partials.failure();
  parallel_for(stream, list.units(), kOptimizerGrain / kReduceBlock,
               [&](int64_t begin, int64_t end) {
                 int64_t unit = begin;
                 list.walk(begin, end, [&](const TensorRef& tensor, int64_t first, int64_t last) {
                   const T* grad = static_cast<const T*>(tensor.grad);
                   for (; first < last; first += kReduceBlock) {
                     partials[unit++] =
                         float_block<Op, T>(grad + first, std::min(kReduceBlock, last - first), p);
                   }
                 });
               });
  for (int64_t i = 0; i < args.count; ++i) {
    double total = Op::kIdentity;
    for (int64_t unit = list.start(i); unit < list.start(i + 1); ++unit) {
      total = Op::fold(total, static_cast<double>(partials[unit]));
    }
    static_cast<acc_t<T>*>(norms)[i] =
        static_cast<acc_t<T>>(Op::result(total, args.tensors[i].numel, p));
  }
  return {};
}

}  // namespace

Status multi_norm(void* norms, const OptimizerArgs& args, double p, Stream stream) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    if (p == 2) return norms_with<FloatNormL2, T>(norms, args, p, stream);
    if (p == 1) return norms_with<FloatNormL1, T>(norms, args, p, stream);
    if (p == 0) return norms_with<FloatNorm0, T>(norms, args, p, stream);
    if (p == kInfinity) return norms_with<FloatNormInf, T>(norms, args, p, stream);
    if (p == -kInfinity) return norms_with<FloatNormNegInf, T>(norms, args, p, stream);
    return norms_with<FloatNormP, T>(norms, args, p, stream);
  });
}

Status multi_scale(const OptimizerArgs& args, double factor, const void* device_factor,
                   Stream stream) {
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    using V = packet_t<T>;
    const V by(device_factor ? static_cast<compute_t<T>>(*static_cast<const T*>(device_factor))
                             : static_cast<compute_t<T>>(factor));
    return for_elements(args, stream, [&](const TensorRef& tensor, int64_t first, int64_t last) {
      T* param = static_cast<T*>(tensor.param) + first;
      for_packets<T>(last - first, [&](int64_t i, auto packet) {
        packet.store(param + i, packet.load(param + i) * by);
      });
    });
  });
}

Status multi_unscale(const OptimizerArgs& args, float* found_inf, const float* inv_scale,
                     Stream stream) {
  bool found = false;  // set by any thread
  const Status status = for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    using V = packet_t<T>;
    const V by(static_cast<compute_t<T>>(*inv_scale));
    return for_elements(args, stream, [&](const TensorRef& tensor, int64_t first, int64_t last) {
      // The gradients are read only elsewhere; here they are what is written.
      T* grad = static_cast<T*>(const_cast<void*>(tensor.grad)) + first;
      V strange(0);  // becomes NaN with the first infinity or NaN
      for_packets<T>(last - first, [&](int64_t i, auto packet) {
        const V g = packet.load(grad + i);
        strange = fma(g, V(0), strange);
        packet.store(grad + i, g * by);
      });
      if (any(isnan(strange))) __atomic_store_n(&found, true, __ATOMIC_RELAXED);
    });
  });
  if (found) *found_inf = 1;
  return status;
}

Status multi_zero(const OptimizerArgs& args, Stream stream) {
  const size_t bytes = element_size(args.dtype);
  return for_elements(args, stream, [&](const TensorRef& tensor, int64_t first, int64_t last) {
    std::memset(static_cast<char*>(tensor.param) + static_cast<size_t>(first) * bytes, 0,
                static_cast<size_t>(last - first) * bytes);
  });
}

TAPER_CPU_END
