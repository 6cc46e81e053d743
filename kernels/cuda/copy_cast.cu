#include <type_traits>

#include "taper/kernels/cuda/copy.h"

// Copies from one dtype to another. Dense ones have a kernel per pair; in the strided and the
// transposed ones a thread holds the element as float, double or int64, whichever has all values of
// the input's dtype, and the dtypes are told apart at run time.

namespace taper::kernels::cuda {

namespace {

/// `value` is what an element of the input's dtype is computed in.
template <class To, class P>
TAPER_INLINE TAPER_HOST_DEVICE To cast(P value) {
  if constexpr (std::is_same_v<To, bool>)
    return value != P(0);
  else if constexpr (std::is_same_v<To, __half> && std::is_same_v<P, double>)
    return __double2half(value);  // rounds once; by way of float it would be twice
  else if constexpr (std::is_same_v<To, __nv_bfloat16> && std::is_same_v<P, double>)
    return __double2bfloat16(value);
  else if constexpr (!std::is_same_v<To, compute_t<To>>)
    return narrow<To>(static_cast<float>(value));
  // Out-of-range numbers have no right answer; by way of int32 they wrap as in PyTorch.
  else if constexpr (std::is_integral_v<To> && sizeof(To) < 4 && std::is_floating_point_v<P>)
    return static_cast<To>(static_cast<int32_t>(value));
  else
    return static_cast<To>(value);
}

template <class To>
struct CastTo {
  using Stored = To;
  template <class P>
  TAPER_INLINE TAPER_HOST_DEVICE To operator()(P value) const {
    return cast<To>(value);
  }
};

/// The type that holds elements on their way: all of T's values are among its own.
template <class T>
using held_t = std::conditional_t<std::is_integral_v<T>, int64_t, compute_t<T>>;

template <class Held>
__device__ __forceinline__ Held load_held(const void* from, int32_t at, ScalarType dtype) {
  const auto as = [&](auto zero) -> Held {
    return static_cast<Held>(widen(static_cast<const decltype(zero)*>(from)[at]));
  };
  if constexpr (std::is_same_v<Held, double>) {
    return as(double{});
  } else if constexpr (std::is_same_v<Held, float>) {
    if (dtype == kFloat) return as(float{});
    if (dtype == kHalf) return as(__half{});
    return as(__nv_bfloat16{});
  } else {
    if (dtype == kLong) return as(int64_t{});
    if (dtype == kInt) return as(int32_t{});
    if (dtype == kShort) return as(int16_t{});
    if (dtype == kChar) return as(int8_t{});
    return as(uint8_t{});  // bool too
  }
}

template <class Held>
__device__ __forceinline__ void store_held(void* to, int32_t at, Held value, ScalarType dtype) {
#define TAPER_STORE_AS(dtype, T)              \
  case dtype:                                 \
    static_cast<T*>(to)[at] = cast<T>(value); \
    break
  switch (dtype) {
    TAPER_STORE_AS(kFloat, float);
    TAPER_STORE_AS(kDouble, double);
    TAPER_STORE_AS(kHalf, __half);
    TAPER_STORE_AS(kBFloat16, __nv_bfloat16);
    TAPER_STORE_AS(kLong, int64_t);
    TAPER_STORE_AS(kInt, int32_t);
    TAPER_STORE_AS(kShort, int16_t);
    TAPER_STORE_AS(kChar, int8_t);
    TAPER_STORE_AS(kByte, uint8_t);
    TAPER_STORE_AS(kBool, bool);
    default:
      break;
  }
#undef TAPER_STORE_AS
}

template <class Held>
__global__ void __launch_bounds__(kElementwiseBlock)
    cast_strided(const __grid_constant__ ElementwiseCall<1> call) {
  const auto from = static_cast<ScalarType>(call.whole.p0);
  const auto to = static_cast<ScalarType>(call.whole.p1);
  for (uint32_t i = blockIdx.x * kElementwiseBlock + threadIdx.x; i < call.walk.count;
       i += gridDim.x * kElementwiseBlock) {
    int32_t offset[2];
    call.walk.offsets(i, offset);
    store_held(call.out, offset[0], load_held<Held>(call.in[0], offset[1], from), to);
  }
}

template <class Held>
struct CastTile {
  using Element = Held;
  static __device__ __forceinline__ Held load(const TransposeCall& call, int32_t at) {
    return load_held<Held>(call.in, at, static_cast<ScalarType>(call.in_dtype));
  }
  static __device__ __forceinline__ void store(const TransposeCall& call, int32_t at, Held value) {
    store_held(call.out, at, value, static_cast<ScalarType>(call.out_dtype));
  }
};

}  // namespace

FoundCopy find_cast(ScalarType to, ScalarType from) {
  FoundCopy found;
  for_stored_any(from, [&](auto from_zero) {
    using From = decltype(from_zero);
    using Held = held_t<From>;
    found.elementwise.strided = &cast_strided<Held>;
    found.transposed = &transpose_tiles<CastTile<Held>>;
    for_stored_any(to, [&](auto to_zero) {
      using To = decltype(to_zero);
      if constexpr (!std::is_same_v<To, From>) {
        found.elementwise.packets = &elementwise_packets<CastTo<To>, 1, From>;
        found.elementwise.packet = kPacketSize<CastTo<To>, 1, From>;
      }
    });
  });
  return found;
}

}  // namespace taper::kernels::cuda
