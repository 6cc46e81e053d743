#pragma once

#include "taper/kernels/cuda/device/row.cuh"

// [batch, channels, inner] seen channel by channel, for batch normalisation.

namespace taper::kernels::cuda {

constexpr int kChannelColumns = 32;  // of a block: a warp reads 128 bytes side by side
constexpr int kChannelRows = kRowBlock / kChannelColumns;

struct ChannelShape {
  int64_t channels, inner;
  int64_t count;  ///< batch * inner
  int64_t slice;  ///< elements of one slice of a channel
};

/// Calls body(offset, width) for this thread's part of slice blockIdx.y of channel blockIdx.x, in
/// packs or single elements; `packed` needs inner to be a multiple of a pack.
template <class T, class Body>
__device__ __forceinline__ void for_slice(const ChannelShape& shape, bool packed,
                                          const Body& body) {
  constexpr int kWidth = kPackSize<T>;
  const int64_t begin = blockIdx.y * shape.slice;
  const int64_t end = begin + shape.slice < shape.count ? begin + shape.slice : shape.count;
  const int64_t plane = shape.channels * shape.inner, first = blockIdx.x * shape.inner;
  // Position p of a channel is element p % inner of sample p / inner.
  if (packed) {
    for (int64_t p = begin + threadIdx.x * kWidth; p < end; p += kRowBlock * kWidth) {
      const int64_t sample = p / shape.inner;
      body(sample * plane + first + (p - sample * shape.inner),
           std::integral_constant<int, kWidth>());
    }
  } else {
    for (int64_t p = begin + threadIdx.x; p < end; p += kRowBlock) {
      const int64_t sample = p / shape.inner;
      body(sample * plane + first + (p - sample * shape.inner), std::integral_constant<int, 1>());
    }
  }
}

/// inner == 1: thread (c, r) of 32 x 8 takes rows r, r + 8, ... of slice blockIdx.y of its channel.
/// Calls body(offset, channel).
template <class Body>
__device__ __forceinline__ void for_column_slice(const ChannelShape& shape, const Body& body) {
  const int64_t channel = int64_t{blockIdx.x} * kChannelColumns + threadIdx.x % kChannelColumns;
  if (channel >= shape.channels) return;
  const int64_t begin = blockIdx.y * shape.slice;
  const int64_t end = begin + shape.slice < shape.count ? begin + shape.slice : shape.count;
  for (int64_t row = begin + threadIdx.x / kChannelColumns; row < end; row += kChannelRows) {
    body(row * shape.channels + channel, channel);
  }
}

/// The values of the eight rows of threads as one, for thread (c, 0).
template <class V, class Fold>
__device__ __forceinline__ V fold_columns(V value, Fold fold) {
  TAPER_SHARED(V, values, [kChannelRows][kChannelColumns]);
  const int c = threadIdx.x % kChannelColumns;
  values[threadIdx.x / kChannelColumns][c] = value;
  __syncthreads();  // all rows' shares are there
  V all = values[0][c];
#pragma unroll
  for (int r = 1; r < kChannelRows; ++r) all = fold(all, values[r][c]);
  return all;
}

/// Calls body(i, channel, width, step) for all elements i of `count` (below 2^31): element i + k
/// has channel + k * step. In packs where inner is a multiple of one (step 0), or where it is 1 and
/// channels are a multiple of one (step 1).
template <class T, class Body>
__device__ __forceinline__ void for_channel_elements(unsigned count, unsigned channels,
                                                     unsigned inner, bool packed,
                                                     const Body& body) {
  using std::integral_constant;
  constexpr unsigned kWidth = kPackSize<T>;
  const unsigned thread = blockIdx.x * kRowBlock + threadIdx.x, blocks = gridDim.x * kRowBlock;
  if (packed && inner == 1) {
    for (unsigned i = thread * kWidth; i < count; i += blocks * kWidth) {
      body(i, i % channels, integral_constant<int, kWidth>(), integral_constant<int, 1>());
    }
  } else if (packed) {
    for (unsigned i = thread * kWidth; i < count; i += blocks * kWidth) {
      body(i, i / inner % channels, integral_constant<int, kWidth>(), integral_constant<int, 0>());
    }
  } else {
    for (unsigned i = thread; i < count; i += blocks) {
      body(i, i / inner % channels, integral_constant<int, 1>(), integral_constant<int, 0>());
    }
  }
}

/// Numbers of N elements' channels: N neighbours, or one for all.
template <int N, int kStep, class C>
__device__ __forceinline__ void load_channels(C (&to)[N], const C* from) {
  const C first = from[0];
#pragma unroll
  for (int k = 0; k < N; ++k) to[k] = kStep == 0 || k == 0 ? first : from[k];
}

}  // namespace taper::kernels::cuda
