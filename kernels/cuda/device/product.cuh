#pragma once

#include "taper/kernels/cuda/device/packet.cuh"

// Products of matrices in tiles, whatever the matrices are read from: memory as it stands, or the
// patches of a convolution. product_fma.cuh multiplies in ordinary arithmetic, product_mma.cuh on
// tensor cores; here is what both share.
//
// A source is an operand: `lines` (the rows of A, the columns of B), each as long as the sum is
// deep.
//   kDeep                          neighbours in memory lie along the depth, else across lines
//   kPack                          numbers that are fetched at once
//   kAsync                         (tensor cores) cp.async may take them to shared memory
//   line(i, batch)                 what there is to know of line i; unless kDeep, of kPack lines
//   fetch(to, line, depth, end)    the pack at `depth`; 0 outside of the operand and from `end` on
// A sink takes the result:
//   store(row, col, values, batch) neighbours of one row; it leaves out what is outside

namespace taper::kernels::cuda {

/// The tiles of C are numbered in blockIdx.x, blockIdx.y is the matrix of the batch, blockIdx.z the
/// part of the sum. With more than one part, raw sums go to `parts` [z][y][m][n].
template <class C>
struct ProductGrid {
  int m, n, depth;
  int m_tiles, n_tiles;
  int depth_per_part;  ///< whole tiles
  C* parts;
};

struct TilePlace {
  int m, n;
};

/// Eight tiles of rows take turns before the columns move on, so that blocks which run together
/// find both operands in the second-level cache.
template <class C>
__device__ __forceinline__ TilePlace tile_place(const ProductGrid<C>& grid) {
  constexpr int kTogether = 8;
  const int tile = static_cast<int>(blockIdx.x), band = kTogether * grid.n_tiles;
  const int first = tile / band * kTogether, inside = tile % band;
  const int rows = grid.m_tiles - first < kTogether ? grid.m_tiles - first : kTogether;
  return {first + inside % rows, inside / rows};
}

/// The kCount neighbours that a thread has of a row of C.
template <class C, class Sink, int kCount>
__device__ __forceinline__ void store_sums(const Sink& sink, const ProductGrid<C>& grid, int row,
                                           int col, const C (&sums)[kCount]) {
  if (row >= grid.m) return;
  if (grid.parts) {
    const int64_t plane = int64_t{blockIdx.z} * gridDim.y + blockIdx.y;
    C* const to = grid.parts + (plane * grid.m + row) * grid.n;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (col + i < grid.n) to[col + i] = sums[i];
    }
  } else {
    sink.store(row, col, sums, static_cast<int>(blockIdx.y));
  }
}

constexpr int kSumThreads = 256;

/// Adds up the parts of the sum, in their order.
template <class C, class Sink>
__global__ void __launch_bounds__(kSumThreads)
    product_sum_parts(Sink sink, ProductGrid<C> grid, int batch, int parts) {
  const int plane = grid.m * grid.n, count = batch * plane;
  const int step = static_cast<int>(gridDim.x) * kSumThreads;
  for (int i = static_cast<int>(blockIdx.x) * kSumThreads + static_cast<int>(threadIdx.x);
       i < count; i += step) {
    C sum[1] = {0};
    for (int part = 0; part < parts; ++part) sum[0] += grid.parts[int64_t{part} * count + i];
    const int inside = i % plane;
    sink.store(inside / grid.n, inside % grid.n, sum, i / plane);
  }
}

/// How the block's threads share out the packs of a tile, kLines x kDepth, and what each of them
/// holds of it on the way from global to shared memory.
template <class Source, int kLines, int kDepth, int kThreads>
struct TileLoader {
  using SourceType = Source;
  static constexpr int kPack = Source::kPack;
  static constexpr int kAcross = (Source::kDeep ? kDepth : kLines) / kPack;
  static constexpr int kStep = kThreads / kAcross;
  static constexpr int kLoads = (Source::kDeep ? kLines : kDepth) / kStep;
  static constexpr int kCursors = Source::kDeep ? kLoads : 1;
  static_assert(kAcross * kStep == kThreads && kLoads > 0);

  typename Source::Line lines[kCursors];
  typename Source::Element values[kLoads][kPack];

  static __device__ __forceinline__ int line_of(int load) {
    const int thread = static_cast<int>(threadIdx.x);
    return Source::kDeep ? thread / kAcross + load * kStep : thread % kAcross * kPack;
  }
  static __device__ __forceinline__ int depth_of(int load) {
    const int thread = static_cast<int>(threadIdx.x);
    return Source::kDeep ? thread % kAcross * kPack : thread / kAcross + load * kStep;
  }

  __device__ __forceinline__ void start(const Source& source, int first) {
#pragma unroll
    for (int i = 0; i < kCursors; ++i) {
      lines[i] = source.line(first + line_of(i), static_cast<int>(blockIdx.y));
    }
  }
  __device__ __forceinline__ void fetch(const Source& source, int depth, int end) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      source.fetch(values[i], lines[Source::kDeep ? i : 0], depth + depth_of(i), end);
    }
  }
};

/// A matrix as it stands. Packs of 16 bytes where `packed`: all rows begin at multiples of that.
template <class T, bool kAlongDepth, bool kAsyncCopy = false>
struct MatrixSource {
  using Element = T;
  static constexpr bool kDeep = kAlongDepth, kAsync = kAsyncCopy;
  static constexpr int kPack = 16 / static_cast<int>(sizeof(T));

  const T* data;
  int64_t stride;  ///< from one line (kDeep) or one step of the depth to the next
  int64_t batch_stride;
  int lines;
  bool packed;

  struct Line {
    const T* at;
    int count;  ///< lines from here on, up to kPack
  };
  __device__ __forceinline__ Line line(int index, int batch) const {
    const int left = lines - index, count = left < kPack ? (left > 0 ? left : 0) : kPack;
    const int64_t offset = count == 0 ? 0 : kDeep ? index * stride : index;
    return {data + batch * batch_stride + offset, count};
  }
  /// Where the pack at `depth` is, and how many of its numbers there are.
  __device__ __forceinline__ const T* place(const Line& line, int depth, int end,
                                            int& count) const {
    const int left = depth < end && line.count > 0 ? end - depth : 0;
    if constexpr (kDeep) {
      count = left < kPack ? left : kPack;
      return line.at + (left > 0 ? depth : 0);
    } else {
      count = left > 0 ? line.count : 0;
      return line.at + (left > 0 ? depth * stride : 0);
    }
  }
  __device__ __forceinline__ void fetch(T (&to)[kPack], const Line& line, int depth,
                                        int end) const {
    int count;
    const T* const from = place(line, depth, end, count);
    if (packed && count == kPack) {
      const auto pack = *reinterpret_cast<const Packet<T, kPack>*>(from);
#pragma unroll
      for (int j = 0; j < kPack; ++j) to[j] = pack.at[j];
    } else {
#pragma unroll
      for (int j = 0; j < kPack; ++j) to[j] = j < count ? from[j] : T{};
    }
  }
};

/// A matrix of any strides, a number at a time.
template <class T>
struct StridedSource {
  using Element = T;
  static constexpr bool kDeep = true, kAsync = false;
  static constexpr int kPack = 1;

  const T* data;
  int64_t line_stride, depth_stride, batch_stride;
  int lines;

  struct Line {
    const T* at;
    bool there;
  };
  __device__ __forceinline__ Line line(int index, int batch) const {
    const bool there = index < lines;
    return {data + batch * batch_stride + (there ? index * line_stride : 0), there};
  }
  __device__ __forceinline__ void fetch(T (&to)[1], const Line& line, int depth, int end) const {
    to[0] = line.there && depth < end ? line.at[depth * depth_stride] : T{};
  }
};

/// c = alpha * sum + bias, or + beta * c. C is what is computed in: an unsigned type for integers.
template <class T, class C>
struct MatrixSink {
  T* c;
  int64_t stride, batch_stride;
  const T* bias;  ///< a number per column, or null
  C alpha, beta;
  int columns;
  bool packed;  ///< the neighbours that a thread has may be stored as one

  template <int kCount>
  __device__ __forceinline__ void store(int row, int col, const C (&sums)[kCount],
                                        int batch) const {
    T* const to = c + batch * batch_stride + row * stride + col;
    if (kCount > 1 && packed && col + kCount <= columns) {
      using Pack = Packet<T, kCount>;
      Pack pack{};
      if (!bias && beta != C(0)) pack = *reinterpret_cast<const Pack*>(to);
#pragma unroll
      for (int j = 0; j < kCount; ++j) pack.at[j] = finish(sums[j], col + j, pack.at[j]);
      *reinterpret_cast<Pack*>(to) = pack;
    } else {
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        if (col + j >= columns) break;
        to[j] = finish(sums[j], col + j, !bias && beta != C(0) ? to[j] : T{});
      }
    }
  }

 private:
  __device__ __forceinline__ T finish(C sum, int col, T before) const {
    C value = alpha * sum;
    if (bias) {
      value += static_cast<C>(widen(bias[col]));
    } else if (beta != C(0)) {
      value += beta * static_cast<C>(widen(before));
    }
    if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
      return narrow<T>(value);
    } else {
      return static_cast<T>(value);
    }
  }
};

}  // namespace taper::kernels::cuda
