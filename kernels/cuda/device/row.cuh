#pragma once

#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/reduce.cuh"

// A row of elements side by side, and the threads that share it: 8 or all 32 lanes of a warp, or a
// block. Short rows stay in registers between the passes over them.

namespace taper::kernels::cuda {

/// Elements of 16 bytes.
template <class T>
constexpr int kPackSize = 16 / static_cast<int>(sizeof(T));

/// N neighbours, 16 bytes at a time.
template <int N, class T>
__device__ __forceinline__ void load_pack(compute_t<T> (&to)[N], const T* from) {
  constexpr int kPart = N < kPackSize<T> ? N : kPackSize<T>;
#pragma unroll
  for (int first = 0; first < N; first += kPart) {
    const auto packet = *reinterpret_cast<const Packet<T, kPart>*>(from + first);
#pragma unroll
    for (int i = 0; i < kPart; ++i) to[first + i] = widen(packet.at[i]);
  }
}
/// from[at, at + N), or `otherwise` where `from` is null.
template <int N, class T, class At>
__device__ __forceinline__ void load_pack_or(compute_t<T> (&to)[N], const T* from, At at,
                                             compute_t<T> otherwise) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = otherwise;
  if (from) load_pack<N>(to, from + at);
}
template <int N, class T>
__device__ __forceinline__ void store_pack(T* to, const compute_t<T> (&from)[N]) {
  constexpr int kPart = N < kPackSize<T> ? N : kPackSize<T>;
#pragma unroll
  for (int first = 0; first < N; first += kPart) {
    Packet<T, kPart> packet;
#pragma unroll
    for (int i = 0; i < kPart; ++i) packet.at[i] = narrow<T>(from[first + i]);
    *reinterpret_cast<Packet<T, kPart>*>(to + first) = packet;
  }
}

constexpr int kRowBlock = 256;  // threads of a block: eight warps hide each other's loads
/// Blocks on a multiprocessor that rows in registers leave, up to 128 a thread: two have 32 KiB of
/// loads under way, twice what memory's latency asks for.
constexpr int kRowBlocks = 2;
/// Of a block that goes down columns: neighbours, so that a warp reads 128 bytes side by side, and
/// the threads that share each.
constexpr int kColumns = 32;
constexpr int kColumnRows = kRowBlock / kColumns;

/// The threads of a block in groups of kThreads; each group has one row.
template <int kThreads>
struct RowGroup {
  static_assert(kThreads <= kWarpSize || kThreads == kRowBlock);
  static constexpr int kPerBlock = kRowBlock / kThreads;

  static __device__ __forceinline__ int64_t row() {
    return int64_t{blockIdx.x} * kPerBlock + threadIdx.x / kThreads;
  }
  static __device__ __forceinline__ int thread() {
    return static_cast<int>(threadIdx.x) % kThreads;
  }
  template <class C, class Fold>
  static __device__ __forceinline__ C reduce(C value, Fold fold) {
    if constexpr (kThreads <= kWarpSize) {
      return warp_reduce<kThreads>(value, fold);
    } else {
      return block_reduce<kThreads>(value, fold);
    }
  }
};

/// One thread's share of a row of at most kCapacity elements: kPacks packs, or as many single
/// elements where rows do not begin at multiples of 16 bytes.
template <class T, int kThreads, int kPacks>
class RowShare {
 public:
  using C = compute_t<T>;
  static constexpr int kWidth = kPackSize<T>;
  static constexpr int kValues = kPacks * kWidth;
  static constexpr int kCapacity = kThreads * kValues;

  __device__ __forceinline__ RowShare(int size, bool packed)
      : thread_(RowGroup<kThreads>::thread()), size_(size), packed_(packed) {}

  /// Where in the row value k of this thread is.
  __device__ __forceinline__ int position(int k) const {
    return packed_ ? (k / kWidth * kThreads + thread_) * kWidth + k % kWidth
                   : k * kThreads + thread_;
  }
  __device__ __forceinline__ bool has(int k) const { return position(k) < size_; }

  /// Where the row has no element: `otherwise`.
  __device__ __forceinline__ void load(C (&x)[kValues], const T* row, C otherwise) const {
    if (packed_) {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        C part[kWidth];
        const int first = (p * kThreads + thread_) * kWidth;
        load_pack_or<kWidth, T>(part, first < size_ ? row : nullptr, first, otherwise);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) x[p * kWidth + i] = part[i];
      }
    } else {
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        const int at = k * kThreads + thread_;
        x[k] = at < size_ ? widen(row[at]) : otherwise;
      }
    }
  }

  __device__ __forceinline__ void store(T* row, const C (&x)[kValues]) const {
    if (packed_) {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        C part[kWidth];
        const int first = (p * kThreads + thread_) * kWidth;
#pragma unroll
        for (int i = 0; i < kWidth; ++i) part[i] = x[p * kWidth + i];
        if (first < size_) store_pack<kWidth>(row + first, part);
      }
    } else {
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        const int at = k * kThreads + thread_;
        if (at < size_) row[at] = narrow<T>(x[k]);
      }
    }
  }

 private:
  int thread_, size_;
  bool packed_;
};

/// Calls body(i, width) for a thread's parts of a long row, in packs (width is a constant) and
/// then, or where rows do not begin at multiples of 16 bytes, one element at a time.
template <class T, int kThreads, class Body>
__device__ __forceinline__ void for_row(int size, bool packed, const Body& body) {
  constexpr int kWidth = kPackSize<T>;
  const int thread = RowGroup<kThreads>::thread();
  const int whole = packed ? size / kWidth * kWidth : 0;
  for (int i = thread * kWidth; i < whole; i += kThreads * kWidth) {
    body(i, std::integral_constant<int, kWidth>());
  }
  for (int i = whole + thread; i < size; i += kThreads) body(i, std::integral_constant<int, 1>());
}

/// Mean and spread of a pack.
template <class C, int N>
__device__ __forceinline__ Moments<C> moments_of(const C (&x)[N]) {
  C sum = x[0], m2 = 0;
#pragma unroll
  for (int i = 1; i < N; ++i) sum += x[i];
  const C mean = sum * (C(1) / N);
#pragma unroll
  for (int i = 0; i < N; ++i) m2 += N == 1 ? C(0) : (x[i] - mean) * (x[i] - mean);
  return {mean, m2, C(N)};
}

/// The choices for rows, by size: share(std::integral_constant<int, threads>, <int, packs>) for
/// those that fit in registers, else long_rows().
///   8 lanes     up to 8 packs    many rows of a few classes: no lane idles through the shuffles
///   a warp      up to 32, 128    no barrier
///   a block     up to 1024
template <class T, class Share, class Long>
auto choose_rows(int64_t size, const Share& share, const Long& long_rows) {
  using std::integral_constant;
  constexpr int kWidth = kPackSize<T>;
  if (size <= 8 * kWidth) return share(integral_constant<int, 8>(), integral_constant<int, 1>());
  if (size <= 32 * kWidth) return share(integral_constant<int, 32>(), integral_constant<int, 1>());
  if (size <= 128 * kWidth) return share(integral_constant<int, 32>(), integral_constant<int, 4>());
  if (size <= 4 * kRowBlock * kWidth) {
    return share(integral_constant<int, kRowBlock>(), integral_constant<int, 4>());
  }
  return long_rows();
}

}  // namespace taper::kernels::cuda
