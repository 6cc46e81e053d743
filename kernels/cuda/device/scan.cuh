#pragma once

#include "taper/kernels/cuda/device/reduce.cuh"

// Running folds over the lanes of a warp and over a block, in the order of the threads. A fold is
// called as fold(earlier, later).

namespace taper::kernels::cuda {

/// The value of the lane `distance` below; the first `distance` lanes keep their own.
template <class T>
__device__ __forceinline__ T shuffle_up(T value, int distance) {
  return shuffle_words(value,
                       [distance](auto word) { return __shfl_up_sync(kFullMask, word, distance); });
}

/// What lanes 0 up to and including this one have, folded. All lanes take part.
template <class T, class Fold>
__device__ __forceinline__ T warp_scan(T value, Fold fold) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
#pragma unroll
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    const T below = shuffle_up(value, distance);
    if (lane >= distance) value = fold(below, value);
  }
  return value;
}

template <class T>
struct Scanned {
  T before;  ///< of all threads below
  T total;   ///< of all
};

/// Over kThreads neighbouring threads: a warp, or a whole one-dimensional block.
template <int kThreads, class T, class Fold>
__device__ __forceinline__ Scanned<T> scan_threads(T value, T identity, Fold fold) {
  constexpr int kWarps = kThreads / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const T through = warp_scan(value, fold);
  T before = shuffle_up(through, 1);
  if (lane == 0) before = identity;
  if constexpr (kWarps == 1) {
    return {before, shuffle_words(through, [](auto word) {
              return __shfl_sync(kFullMask, word, kWarpSize - 1);
            })};
  } else {
    TAPER_SHARED(T, of_warps, [kWarps]);
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    __syncthreads();  // what an earlier call left there has been read
    if (lane == kWarpSize - 1) of_warps[warp] = through;
    __syncthreads();  // all of them are there
    T below = identity, total = identity;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      if (w == warp) below = total;
      total = fold(total, of_warps[w]);
    }
    return {fold(below, before), total};
  }
}

}  // namespace taper::kernels::cuda
