#include <cmath>

#include "taper/kernels/cpu/reduce_rows.h"
#include "taper/kernels/cpu/var_mean.h"

// Layer normalisation over rows. Statistics and all sums in float or wider.

TAPER_CPU_BEGIN

namespace {

constexpr int64_t kGrain = 16 * 1024;  // elements worth a thread
constexpr int64_t kRowBlock = 32;      // rows whose parameter gradients are added in float
constexpr int64_t kMaxChunks = 64;     // partial parameter gradients at most

/// Parts of the affine parameters; null stands for 1 and 0.
template <class T, class Packet>
TAPER_INLINE packet_t<T> load_or(const T* from, int64_t i, const Packet& packet, double otherwise) {
  return from ? packet.load(from + i) : packet_t<T>(otherwise);
}

template <class T>
void normalise_row(T* out, const T* in, const LayerNormArgs& args, compute_t<T> mean,
                   compute_t<T> rstd) {
  using V = packet_t<T>;
  const T* weight = static_cast<const T*>(args.weight);
  const T* bias = static_cast<const T*>(args.bias);
  if (weight && bias) {
    for_packets<T>(args.size, [&](int64_t i, auto packet) {
      const V normal = (packet.load(in + i) - V(mean)) * V(rstd);
      packet.store(out + i, fma(normal, packet.load(weight + i), packet.load(bias + i)));
    });
  } else {
    for_packets<T>(args.size, [&](int64_t i, auto packet) {
      const V normal = (packet.load(in + i) - V(mean)) * V(rstd);
      packet.store(out + i,
                   fma(normal, load_or(weight, i, packet, 1), load_or(bias, i, packet, 0)));
    });
  }
}

/// With h = weight * grad and n the normalised input: grad_in = rstd * (h - mean(h) - n * mean(h *
/// n)).
template <class T>
void input_gradient_row(T* grad_in, const T* grad, const T* in, const T* weight, int64_t size,
                        compute_t<T> mean, compute_t<T> rstd) {
  using V = packet_t<T>;
  const V centre(mean), scale(rstd);
  const auto sums = row_sums<T, 2>(size, [&](int64_t i, auto packet, V* sums) {
    const V h = packet.load(grad + i) * load_or(weight, i, packet, 1);
    sums[0] += h;
    sums[1] = fma(h, (packet.load(in + i) - centre) * scale, sums[1]);
  });
  const V mean_h(sums[0] / static_cast<double>(size)), mean_hn(sums[1] / static_cast<double>(size));
  for_packets<T>(size, [&](int64_t i, auto packet) {
    const V h = packet.load(grad + i) * load_or(weight, i, packet, 1);
    const V normal = (packet.load(in + i) - centre) * scale;
    packet.store(grad_in + i, (h - mean_h - normal * mean_hn) * scale);
  });
}

/// Adds one row's part of the parameter gradients; `first` starts a block.
template <class T>
void add_parameter_gradients(compute_t<T>* weight_sum, compute_t<T>* bias_sum, const T* grad,
                             const T* in, int64_t size, compute_t<T> mean, compute_t<T> rstd,
                             bool first) {
  using V = packet_t<T>;
  for_packets<T>(size, [&](int64_t i, auto packet) {
    const V g = packet.load(grad + i);
    const V wanted = g * ((packet.load(in + i) - V(mean)) * V(rstd));
    packet.store_terms(weight_sum + i, first ? wanted : packet.load_terms(weight_sum + i) + wanted);
    packet.store_terms(bias_sum + i, first ? g : packet.load_terms(bias_sum + i) + g);
  });
}

template <class T>
Status layer_norm_backward_dtype(T* grad_in, T* grad_weight, T* grad_bias, const T* grad,
                                 const T* in, const compute_t<T>* mean, const compute_t<T>* rstd,
                                 const LayerNormArgs& args, const Stream& stream) {
  using C = compute_t<T>;
  const int64_t rows = args.rows, size = args.size;
  const T* weight = static_cast<const T*>(args.weight);
  const bool parameters = grad_weight || grad_bias;
  // Chunks of rows depend on the shape alone, so that sums come out the same on any number of
  // threads.
  const int64_t worth = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size));
  int64_t chunk = std::max((rows + kMaxChunks - 1) / kMaxChunks, worth);
  chunk = (chunk + kRowBlock - 1) / kRowBlock * kRowBlock;
  const int64_t chunks = (rows + chunk - 1) / chunk;
  Scratch<C> blocks(stream, parameters ? chunks * 2 * size : 0);
  Scratch<double> totals(stream, parameters ? chunks * 2 * size : 0);
  if (parameters && chunks * size > 0) {
    if (!blocks.get()) return blocks.failure();
    if (!totals.get()) return totals.failure();
  }
  parallel_for(stream, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t first = k * chunk, last = std::min(first + chunk, rows);
      C* weight_sum = blocks.get() + k * 2 * size;
      double* total = totals.get() + k * 2 * size;
      if (parameters) std::fill_n(total, 2 * size, 0.0);
      for (int64_t r = first; r < last; ++r) {
        const int64_t at = r * size;
        if (grad_in) {
          input_gradient_row(grad_in + at, grad + at, in + at, weight, size, mean[r], rstd[r]);
        }
        if (!parameters) continue;
        add_parameter_gradients(weight_sum, weight_sum + size, grad + at, in + at, size, mean[r],
                                rstd[r], (r - first) % kRowBlock == 0);
        if ((r - first) % kRowBlock == kRowBlock - 1 || r + 1 == last) {
          for (int64_t i = 0; i < 2 * size; ++i) total[i] += weight_sum[i];
        }
      }
    }
  });
  if (!parameters) return {};
  for (int64_t k = 1; k < chunks; ++k) {
    for (int64_t i = 0; i < 2 * size; ++i) totals[i] += totals[k * 2 * size + i];
  }
  for (int64_t i = 0; i < size; ++i) {
    if (grad_weight) grad_weight[i] = T(static_cast<C>(chunks ? totals[i] : 0));
    if (grad_bias) grad_bias[i] = T(static_cast<C>(chunks ? totals[size + i] : 0));
  }
  return {};
}

}  // namespace

Status layer_norm_forward(void* out, void* mean, void* rstd, const void* in,
                          const LayerNormArgs& args, Stream stream) {
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    using C = compute_t<T>;
    if (args.size == 0) {
      std::fill_n(static_cast<C*>(mean), args.rows, C(0));
      std::fill_n(static_cast<C*>(rstd), args.rows, C(1 / std::sqrt(args.eps)));
      return Status{};
    }
    parallel_for(stream, args.rows, std::max<int64_t>(1, kGrain / args.size),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin; r < end; ++r) {
                     const T* row = static_cast<const T*>(in) + r * args.size;
                     const Moments moments = moments_run(row, args.size);
                     const C centre = static_cast<C>(moments.mean);
                     const C scale = static_cast<C>(
                         1 / std::sqrt(moments.m2 / static_cast<double>(args.size) + args.eps));
                     static_cast<C*>(mean)[r] = centre;
                     static_cast<C*>(rstd)[r] = scale;
                     normalise_row(static_cast<T*>(out) + r * args.size, row, args, centre, scale);
                   }
                 });
    return Status{};
  });
}

Status layer_norm_backward(void* grad_in, void* grad_weight, void* grad_bias, const void* grad_out,
                           const void* in, const void* mean, const void* rstd,
                           const LayerNormArgs& args, Stream stream) {
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    using C = compute_t<T>;
    return layer_norm_backward_dtype(static_cast<T*>(grad_in), static_cast<T*>(grad_weight),
                                     static_cast<T*>(grad_bias), static_cast<const T*>(grad_out),
                                     static_cast<const T*>(in), static_cast<const C*>(mean),
                                     static_cast<const C*>(rstd), args, stream);
  });
}

TAPER_CPU_END
