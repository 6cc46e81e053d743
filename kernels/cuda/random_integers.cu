#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/random_fill.h"

// Whole numbers: base + word % range, of 32 or 64 bits.

namespace taper::kernels::cuda {

namespace {

/// T is floating, or the unsigned integer of a dtype's size, which takes the low bits. Range 0
/// stands for 2^64: the bits as they come.
template <class T, class Word>
struct RangeMap {
  Word range;
  uint64_t base;
  __device__ __forceinline__ T operator()(Word word) const {
    const uint64_t value = (range ? word % range : word) + base;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(value);
    } else {
      return narrow<T>(static_cast<compute_t<T>>(static_cast<int64_t>(value)));
    }
  }
};

struct Range {
  uint64_t base, range;
  bool is_long;  ///< of 64 bits
};

/// From 2^28 on, where the remainder of 32 bits would be visibly uneven, PyTorch takes 64 bits.
Range range_between(int64_t from, int64_t to) {
  const uint64_t base = static_cast<uint64_t>(from), range = static_cast<uint64_t>(to) - base;
  return {base, range, range == 0 || range >= uint64_t{1} << 28};
}

/// All integers from 0 that the dtype holds exactly; 64 bits for int64 and double only.
Range full_range(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Bool:
      return {0, 2, false};
    case ScalarType::Byte:
      return {0, 1 << 8, false};
    case ScalarType::Char:
      return {0, 1 << 7, false};
    case ScalarType::Short:
      return {0, 1 << 15, false};
    case ScalarType::Int:
      return {0, uint64_t{1} << 31, false};
    case ScalarType::Long:
      return {0, uint64_t{1} << 63, true};
    case ScalarType::Half:
      return {0, (1 << 11) + 1, false};
    case ScalarType::BFloat16:
      return {0, (1 << 8) + 1, false};
    case ScalarType::Float:
      return {0, (1 << 24) + 1, false};
    default:
      return {0, (uint64_t{1} << 53) + 1, true};
  }
}

template <class T>
Status fill_range(void* out, int64_t count, const Range& range, CudaRngState& state,
                  const Stream& stream) {
  if (range.is_long) {
    return fill_random<DrawLong>(static_cast<T*>(out), count, state,
                                 RangeMap<T, uint64_t>{range.range, range.base}, stream);
  }
  return fill_random<DrawWord>(
      static_cast<T*>(out), count, state,
      RangeMap<T, uint32_t>{static_cast<uint32_t>(range.range), range.base}, stream);
}

Status fill_range(void* out, ScalarType dtype, int64_t count, const Range& range,
                  CudaRngState& state, const Stream& stream) {
  if (is_floating_point(dtype)) {
    return for_floating(
        dtype, [&]<class T>(T) { return fill_range<T>(out, count, range, state, stream); });
  }
  return for_size(dtype,
                  [&]<class T>(T) { return fill_range<T>(out, count, range, state, stream); });
}

}  // namespace

Status random_integers(const RandomArgs& args, Stream stream) {
  const Range range = args.op == RandomOp::kRandomFull ? full_range(args.dtype)
                                                       : range_between(args.p[0].i, args.p[1].i);
  return fill_range(args.out, args.dtype, args.numel, range,
                    *static_cast<CudaRngState*>(args.generator), stream);
}

Status random_keys(void* out, ScalarType dtype, int64_t count, int64_t from, int64_t to,
                   CudaRngState& state, const Stream& stream) {
  return fill_range(out, dtype, count, range_between(from, to), state, stream);
}

}  // namespace taper::kernels::cuda
