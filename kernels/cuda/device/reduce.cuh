#pragma once

#include <type_traits>

#include "taper/kernels/cuda/device/kernel.cuh"

// Many values into one, over the lanes of a warp and over a block. Every thread gets the result,
// the same in each run, because the shape of the tree is fixed:
//   warp_reduce(x, AddFold())         all 32 lanes take part
//   warp_reduce<8>(x, AddFold())      all take part, each eight neighbouring lanes by themselves
//   block_reduce<256>(x, AddFold())   all 256 threads of a one-dimensional block take part
// A fold is called as fold(a, b), with a from the lower lane. Where fold(b, a) has other bits, it
// says kOrdered, so that all lanes still agree. A value is a number of 4 or 8 bytes, or a plain
// struct of such.

namespace taper::kernels::cuda {

struct AddFold {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
/// NaN wins.
struct MaxFold {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
struct MinFold {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

/// Mean and spread of `count` numbers. {0, 0, 0} is nothing.
template <class C>
struct Moments {
  C mean;
  C m2;  ///< sum of the squared distances from the mean
  C count;
};

/// By the formula of Chan, Golub and LeVeque. Merging one number, {x, 0, 1}, is Welford's step.
struct MergeMoments {
  static constexpr bool kOrdered = true;
  template <class C>
  __device__ __forceinline__ Moments<C> operator()(Moments<C> a, Moments<C> b) const {
    const C count = a.count + b.count;
    const C ratio = b.count / count;
    const C distance = b.mean - a.mean;
    const Moments<C> merged{a.mean + distance * ratio,
                            a.m2 + b.m2 + distance * distance * (a.count * ratio), count};
    // By choice, not by the formula: a distance that overflows makes 0 * inf of an empty side.
    return b.count == C(0) ? a : a.count == C(0) ? b : merged;
  }
};

/// A shuffle of any value: shuffle(word) for each 4 or 8 bytes of it.
template <class T, class Shuffle>
__device__ __forceinline__ T shuffle_words(T value, Shuffle shuffle) {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    return shuffle(value);
  } else {
    static_assert(sizeof(T) % 4 == 0, "shuffles move 4 or 8 bytes");
    using Word = std::conditional_t<sizeof(T) % 8 == 0, unsigned long long, unsigned>;
    constexpr int kWords = static_cast<int>(sizeof(T) / sizeof(Word));
    Word words[kWords];
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = shuffle(words[i]);
    memcpy(&value, words, sizeof(T));
    return value;
  }
}

/// The value of the lane whose number differs in `bits`.
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, int bits) {
  return shuffle_words(value, [bits](auto word) { return __shfl_xor_sync(kFullMask, word, bits); });
}

/// One step of a reduction: each lane's value with that of the lane whose number differs in `bits`.
template <class T, class Fold>
__device__ __forceinline__ T fold_lanes(T value, int bits, Fold fold) {
  const T other = shuffle_xor(value, bits);
  if constexpr (requires { Fold::kOrdered; }) {
    return threadIdx.x & bits ? fold(other, value) : fold(value, other);
  } else {
    return fold(value, other);
  }
}

template <int kLanes = kWarpSize, class T, class Fold>
__device__ __forceinline__ T warp_reduce(T value, Fold fold) {
  static_assert(kLanes >= 1 && kLanes <= kWarpSize && (kLanes & (kLanes - 1)) == 0);
#pragma unroll
  for (int bits = 1; bits < kLanes; bits *= 2) value = fold_lanes(value, bits, fold);
  return value;
}

template <int kThreads, class T, class Fold>
__device__ __forceinline__ T block_reduce(T value, Fold fold) {
  constexpr int kWarps = kThreads / kWarpSize;
  static_assert(kWarps * kWarpSize == kThreads && kWarps <= kWarpSize);
  value = warp_reduce(value, fold);
  if constexpr (kWarps == 1) return value;
  TAPER_SHARED(T, of_warps, [kWarps]);
  __syncthreads();  // what an earlier call left there has been read
  if (threadIdx.x % kWarpSize == 0) of_warps[threadIdx.x / kWarpSize] = value;
  __syncthreads();  // all of them are there
  // Each warp folds them all for itself, which spares a third barrier.
  return warp_reduce<kWarps>(of_warps[threadIdx.x % kWarps], fold);
}

}  // namespace taper::kernels::cuda
