#pragma once

#include "taper/kernels/cuda/device/product.cuh"

// Products in ordinary arithmetic, float, double or integer. Each thread keeps kRows x kCols sums
// in registers; tiles of both operands stand in shared memory, depth outermost, twice: while one
// pair is multiplied, the next is on its way through registers.

namespace taper::kernels::cuda {

template <class C, int kRowsOfTile, int kColsOfTile, int kDepth, int kRowsOfThread,
          int kColsOfThread>
struct FmaTile {
  using Compute = C;
  static constexpr int kM = kRowsOfTile, kN = kColsOfTile, kK = kDepth;
  static constexpr int kRows = kRowsOfThread, kCols = kColsOfThread;
  static constexpr int kThreadsM = kM / kRows, kThreadsN = kN / kCols;
  static constexpr int kThreads = kThreadsM * kThreadsN;
  /// Numbers that shared memory gives at once, and neighbours of a row that a thread stores at
  /// once.
  static constexpr int kGroup = 16 / static_cast<int>(sizeof(C));
  static constexpr int kStored = kGroup;
  static constexpr size_t kDynamicShared = 0;
};

// A thread's rows come in groups of kGroup, a group from each kRows / kGroup-th of the tile: so the
// threads of a warp read neighbouring groups, which do not meet in a bank.
template <int kGroup, int kThreads>
__device__ __forceinline__ int place_in_tile(int thread, int i) {
  return (i / kGroup * kThreads + thread) * kGroup + i % kGroup;
}

template <class Pack, int kDepth, int kPacks, class Loader>
__device__ __forceinline__ void put_tile(Pack (&tile)[kDepth][kPacks], const Loader& loader) {
  constexpr int kGroup = static_cast<int>(sizeof(Pack) / sizeof(Pack{}.at[0]));
  using C = std::remove_reference_t<decltype(Pack{}.at[0])>;
  using Source = typename Loader::SourceType;
#pragma unroll
  for (int i = 0; i < Loader::kLoads; ++i) {
    const int line = Loader::line_of(i), depth = Loader::depth_of(i);
    if constexpr (!Source::kDeep && Loader::kPack == kGroup) {
      Pack pack;
#pragma unroll
      for (int j = 0; j < kGroup; ++j) pack.at[j] = static_cast<C>(loader.values[i][j]);
      tile[depth][line / kGroup] = pack;
    } else {
#pragma unroll
      for (int j = 0; j < Loader::kPack; ++j) {
        const int l = Source::kDeep ? line : line + j, d = Source::kDeep ? depth + j : depth;
        tile[d][l / kGroup].at[l % kGroup] = static_cast<C>(loader.values[i][j]);
      }
    }
  }
}

// Two blocks to a multiprocessor, so that one multiplies while the other waits for memory: up to
// 128 registers a thread.
template <class Tile, class A, class B, class Sink>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    product_fma_double_buffered(A a, B b, Sink sink, ProductGrid<typename Tile::Compute> grid) {
  using C = typename Tile::Compute;
  constexpr int kGroup = Tile::kGroup, kRows = Tile::kRows, kCols = Tile::kCols;
  using Pack = Packet<C, kGroup>;
  // One pack more than a row needs: the transposing stores of a warp fall into different banks.
  TAPER_SHARED(Pack, a_tiles, [2][Tile::kK][Tile::kM / kGroup + 1]);
  TAPER_SHARED(Pack, b_tiles, [2][Tile::kK][Tile::kN / kGroup + 1]);

  const TilePlace place = tile_place(grid);
  const int begin = static_cast<int>(blockIdx.z) * grid.depth_per_part;
  const int left = grid.depth - begin;
  const int end = begin + (left < grid.depth_per_part ? left : grid.depth_per_part);
  const int tiles = (end - begin + Tile::kK - 1) / Tile::kK;
  const int thread_m = static_cast<int>(threadIdx.x) / Tile::kThreadsN;
  const int thread_n = static_cast<int>(threadIdx.x) % Tile::kThreadsN;

  TileLoader<A, Tile::kM, Tile::kK, Tile::kThreads> load_a;
  TileLoader<B, Tile::kN, Tile::kK, Tile::kThreads> load_b;
  load_a.start(a, place.m * Tile::kM);
  load_b.start(b, place.n * Tile::kN);
  C sums[kRows][kCols] = {};

  load_a.fetch(a, begin, end);
  load_b.fetch(b, begin, end);
  put_tile(a_tiles[0], load_a);
  put_tile(b_tiles[0], load_b);
  __syncthreads();  // the first pair of tiles is there
  for (int t = 0; t < tiles; ++t) {
    const bool more = t + 1 < tiles;
    if (more) {
      load_a.fetch(a, begin + (t + 1) * Tile::kK, end);
      load_b.fetch(b, begin + (t + 1) * Tile::kK, end);
    }
    const auto& a_tile = a_tiles[t % 2];
    const auto& b_tile = b_tiles[t % 2];
#pragma unroll
    for (int k = 0; k < Tile::kK; ++k) {
      Pack x[kRows / kGroup], y[kCols / kGroup];
#pragma unroll
      for (int i = 0; i < kRows / kGroup; ++i) x[i] = a_tile[k][i * Tile::kThreadsM + thread_m];
#pragma unroll
      for (int j = 0; j < kCols / kGroup; ++j) y[j] = b_tile[k][j * Tile::kThreadsN + thread_n];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
          sums[i][j] += x[i / kGroup].at[i % kGroup] * y[j / kGroup].at[j % kGroup];
        }
      }
    }
    if (more) {
      put_tile(a_tiles[(t + 1) % 2], load_a);
      put_tile(b_tiles[(t + 1) % 2], load_b);
    }
    __syncthreads();  // the next pair is there, and this one may be overwritten
  }

#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int row = place.m * Tile::kM + place_in_tile<kGroup, Tile::kThreadsM>(thread_m, i);
#pragma unroll
    for (int j = 0; j < kCols; j += kGroup) {
      const int col = place.n * Tile::kN + place_in_tile<kGroup, Tile::kThreadsN>(thread_n, j);
      C group[kGroup];
#pragma unroll
      for (int h = 0; h < kGroup; ++h) group[h] = sums[i][j + h];
      store_sums(sink, grid, row, col, group);
    }
  }
}

}  // namespace taper::kernels::cuda
