#pragma once

#include <type_traits>

#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/walk.cuh"
#include "taper/kernels/functors/math.h"

// The two kernels of every elementwise op, out[i] = op(in0[i], ...), for functors of
// kernels/functors:
//
//   elementwise_packets  the inner dimension is dense, or one element spread, in each operand: 16
//                        bytes of the widest operand a thread. Contiguous tensors, tensor and
//                        number, rows or columns that are broadcast, rows of a larger matrix.
//   elementwise_strided  any strides, an element at a time. It exists per compute type: halves are
//                        told apart when they are loaded and stored.

namespace taper::kernels::cuda {

/// Neither kernel shares anything in a block: small enough that registers never bound the number of
/// blocks, large enough that eight of them fill a multiprocessor.
constexpr int kElementwiseBlock = 256;

/// What lies in memory where a thread computes in float.
enum class Storage : int32_t { kFull, kHalf, kBFloat16 };

template <int N>
struct ElementwiseCall {
  void* out;
  const void* in[N];
  /// Bit k: input k has stride 0 in the inner dimension; all of a packet is one element.
  uint32_t spread;
  /// Bit k: input k is one number, of the compute type, in `number`.
  uint32_t is_number;
  uint64_t number;
  int32_t last;     ///< elements of the last packet
  Storage storage;  ///< of the strided kernel's operands
  functors::Parameters<double> real;
  functors::Parameters<int64_t> whole;
  Walk<N> walk;
};

// The first input of Where is a mask; all others have the op's dtype.
template <class Op, class T>
struct FirstInput {
  using type = T;
};
template <class Op, class T>
using first_t = typename FirstInput<Op, T>::type;

template <class Op, int N, class P>
TAPER_INLINE TAPER_HOST_DEVICE auto apply_to(const functors::ParametersOf<P>& p, const P (&x)[N]) {
  if constexpr (N == 1)
    return functors::apply<Op, P>(p, x[0]);
  else if constexpr (N == 2)
    return functors::apply<Op, P>(p, x[0], x[1]);
  else
    return functors::apply<Op, P>(p, x[0], x[1], x[2]);
}

/// What an op on T leaves in memory: T, or bool where it answers, or what it says itself (a cast).
template <class Op, int N, class T>
struct Output {
  using Result = decltype(apply_to<Op, N, compute_t<T>>({}, {}));
  using type = std::conditional_t<std::is_same_v<Result, compute_t<T>>, T, Result>;
};
template <class Op, int N, class T>
  requires requires { typename Op::Stored; }
struct Output<Op, N, T> {
  using type = typename Op::Stored;
};
template <class Op, int N, class T>
using output_t = typename Output<Op, N, T>::type;

/// Elements in a packet.
template <class Op, int N, class T>
constexpr int kPacketSize =
    16 / static_cast<int>(sizeof(T) > sizeof(output_t<Op, N, T>) ? sizeof(T)
                                                                 : sizeof(output_t<Op, N, T>));

// The op's parameters, as P takes them.
template <class P, int N>
__device__ __forceinline__ const functors::ParametersOf<P>& parameters_of(
    const ElementwiseCall<N>& call) {
  if constexpr (functors::is_integer<P>)
    return call.whole;
  else
    return call.real;
}

template <class P, int N>
__device__ __forceinline__ P number_of(const ElementwiseCall<N>& call) {
  P number;
  memcpy(&number, &call.number, sizeof number);
  return number;
}

// `count` elements: all of a packet at once, or fewer one by one.
template <class T, int kSize>
__device__ __forceinline__ void load_packet(Packet<T, kSize>& packet, const T* from, int count) {
  if (count == kSize) {
    packet = *reinterpret_cast<const Packet<T, kSize>*>(from);
    return;
  }
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
    if (j < count) packet.at[j] = from[j];
  }
}
template <class T, int kSize>
__device__ __forceinline__ void store_packet(T* to, const Packet<T, kSize>& packet, int count) {
  if (count == kSize) {
    *reinterpret_cast<Packet<T, kSize>*>(to) = packet;
    return;
  }
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
    if (j < count) to[j] = packet.at[j];
  }
}

template <class Op, int N, class T>
__global__ void __launch_bounds__(kElementwiseBlock)
    elementwise_packets(const __grid_constant__ ElementwiseCall<N> call) {
  using P = compute_t<T>;
  using First = first_t<Op, T>;
  using Out = output_t<Op, N, T>;
  constexpr int kSize = kPacketSize<Op, N, T>;
  const functors::ParametersOf<P>& p = parameters_of<P>(call);

  for (uint32_t i = blockIdx.x * kElementwiseBlock + threadIdx.x; i < call.walk.count;
       i += gridDim.x * kElementwiseBlock) {
    int32_t offset[N + 1];
    call.walk.offsets(i, offset);
    const int count = i + 1 == call.walk.count ? call.last : kSize;

    // All loads are under way before the first is used.
    Packet<First, kSize> first{};
    Packet<T, kSize> rest[N > 1 ? N - 1 : 1] = {};
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (N > 1 && (call.is_number >> k & 1)) continue;
      const int wanted = call.spread >> k & 1 ? 1 : count;
      if (k == 0)
        load_packet(first, static_cast<const First*>(call.in[0]) + offset[1], wanted);
      else
        load_packet(rest[k - 1], static_cast<const T*>(call.in[k]) + offset[k + 1], wanted);
    }

    Packet<Out, kSize> out;
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      P x[N];
#pragma unroll
      for (int k = 0; k < N; ++k) {
        const bool spread = call.spread >> k & 1;
        if (k == 0)
          x[0] = static_cast<P>(widen(spread ? first.at[0] : first.at[j]));
        else
          x[k] = widen(spread ? rest[k - 1].at[0] : rest[k - 1].at[j]);
        if (N > 1 && (call.is_number >> k & 1)) x[k] = number_of<P>(call);
      }
      const auto result = apply_to<Op, N, P>(p, x);
      if constexpr (std::is_same_v<Out, T>)
        out.at[j] = narrow<T>(result);
      else
        out.at[j] = result;
    }
    store_packet(static_cast<Out*>(call.out) + offset[0], out, count);
  }
}

// An element on its way between memory and a thread that computes in P: the bits as they are, so
// that loads of halves do not wait for one another to be widened.
template <class P>
struct Cell {
  using Bits = P;
  static __device__ __forceinline__ Bits load(const void* from, int32_t at, Storage) {
    return static_cast<const P*>(from)[at];
  }
  static __device__ __forceinline__ P widen(Bits bits, Storage) { return bits; }
  static __device__ __forceinline__ void store(void* to, int32_t at, P value, Storage) {
    static_cast<P*>(to)[at] = value;
  }
};
template <>
struct Cell<float> {
  using Bits = uint32_t;
  static __device__ __forceinline__ Bits load(const void* from, int32_t at, Storage storage) {
    return storage == Storage::kFull ? static_cast<const uint32_t*>(from)[at]
                                     : static_cast<const uint16_t*>(from)[at];
  }
  static __device__ __forceinline__ float widen(Bits bits, Storage storage) {
    if (storage == Storage::kFull) return __uint_as_float(bits);
    if (storage == Storage::kBFloat16) return __uint_as_float(bits << 16);
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
  }
  static __device__ __forceinline__ void store(void* to, int32_t at, float value, Storage storage) {
    if (storage == Storage::kFull)
      static_cast<float*>(to)[at] = value;
    else if (storage == Storage::kBFloat16)
      static_cast<__nv_bfloat16*>(to)[at] = __float2bfloat16_rn(value);
    else
      static_cast<__half*>(to)[at] = __float2half_rn(value);
  }
};

/// Elements of a thread at a time, whose loads overlap; one where arithmetic takes the time.
template <class Op>
constexpr int kStridedEach = functors::is_costly<Op> ? 1 : 4;

template <class Op, int N, class P>
__global__ void __launch_bounds__(kElementwiseBlock)
    elementwise_strided(const __grid_constant__ ElementwiseCall<N> call) {
  using First = first_t<Op, P>;
  using Out = output_t<Op, N, P>;
  constexpr int kEach = kStridedEach<Op>;
  const functors::ParametersOf<P>& p = parameters_of<P>(call);
  const Storage storage = call.storage;

  for (uint32_t begin = blockIdx.x * (kElementwiseBlock * kEach) + threadIdx.x;
       begin < call.walk.count; begin += gridDim.x * (kElementwiseBlock * kEach)) {
    typename Cell<First>::Bits first[kEach] = {};
    typename Cell<P>::Bits rest[kEach][N > 1 ? N - 1 : 1] = {};
    int32_t to[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const uint32_t i = begin + j * kElementwiseBlock;
      if (i >= call.walk.count) continue;
      int32_t offset[N + 1];
      call.walk.offsets(i, offset);
      to[j] = offset[0];
#pragma unroll
      for (int k = 0; k < N; ++k) {
        if (N > 1 && (call.is_number >> k & 1)) continue;
        if (k == 0)
          first[j] = Cell<First>::load(call.in[0], offset[1], storage);
        else
          rest[j][k - 1] = Cell<P>::load(call.in[k], offset[k + 1], storage);
      }
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if (begin + j * kElementwiseBlock >= call.walk.count) continue;
      P x[N];
#pragma unroll
      for (int k = 0; k < N; ++k) {
        if (k == 0)
          x[0] = static_cast<P>(Cell<First>::widen(first[j], storage));
        else
          x[k] = Cell<P>::widen(rest[j][k - 1], storage);
        if (N > 1 && (call.is_number >> k & 1)) x[k] = number_of<P>(call);
      }
      const auto result = apply_to<Op, N, P>(p, x);
      if constexpr (std::is_same_v<Out, P>)
        Cell<P>::store(call.out, to[j], result, storage);
      else
        static_cast<Out*>(call.out)[to[j]] = result;
    }
  }
}

}  // namespace taper::kernels::cuda
