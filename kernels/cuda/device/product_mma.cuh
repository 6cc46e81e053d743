#pragma once

#include "taper/kernels/cuda/device/product.cuh"
#include "taper/kernels/cuda/device/ptx.cuh"

// Products of halves on tensor cores, sums in float. A tile stands in shared memory the way its
// operand stands in global memory (rows of the depth, or of lines), since ldmatrix turns it around
// for nothing. Three pairs of tiles take turns: one is multiplied, two are on their way, by
// cp.async where the operand allows it, else through registers.

namespace taper::kernels::cuda {

template <class T, int kRowsOfTile, int kColsOfTile, int kWarpsDown, int kWarpsAcross>
struct MmaTile {
  using Element = T;
  using Compute = float;
  static constexpr int kM = kRowsOfTile, kN = kColsOfTile, kK = 32, kStages = 3;
  static constexpr int kWarpsM = kWarpsDown, kWarpsN = kWarpsAcross;
  static constexpr int kThreads = kWarpSize * kWarpsM * kWarpsN;
  static constexpr int kRowsOfWarp = kM / kWarpsM, kColsOfWarp = kN / kWarpsN;
  static constexpr int kStored = 2;  ///< neighbours of a row that a thread stores at once
  static_assert(kRowsOfWarp % 16 == 0 && kColsOfWarp % 16 == 0);
};

/// Where number (line, depth) of a tile stands. Rows are 16 bytes longer than full, so that the
/// eight rows of an ldmatrix fall into different banks.
template <bool kDeep, int kLines, int kDepth>
struct MmaLayout {
  static constexpr int kRow = (kDeep ? kDepth : kLines) + 8;
  static constexpr int kSize = (kDeep ? kLines : kDepth) * kRow;
  static __device__ __forceinline__ int offset(int line, int depth) {
    return kDeep ? line * kRow + depth : depth * kRow + line;
  }
};

template <class Tile, class A, class B>
constexpr size_t mma_shared_bytes() {
  return size_t{2} * Tile::kStages *
         (MmaLayout<A::kDeep, Tile::kM, Tile::kK>::kSize +
          MmaLayout<B::kDeep, Tile::kN, Tile::kK>::kSize);
}

/// One operand on its way to shared memory.
template <class Source, int kLines, int kDepth, int kThreads>
struct MmaLoader : TileLoader<Source, kLines, kDepth, kThreads> {
  using Base = TileLoader<Source, kLines, kDepth, kThreads>;
  using T = typename Source::Element;
  using Layout = MmaLayout<Source::kDeep, kLines, kDepth>;

  /// Sets out: all the way with cp.async, else as far as registers.
  __device__ __forceinline__ void begin(T* tile, const Source& source, int depth, int end) {
    if constexpr (Source::kAsync) {
#pragma unroll
      for (int i = 0; i < Base::kLoads; ++i) {
        int count;
        const T* const from =
            source.place(this->lines[Source::kDeep ? i : 0], depth + Base::depth_of(i), end, count);
        cp_async<16>(tile + Layout::offset(Base::line_of(i), Base::depth_of(i)), from, 2 * count);
      }
    } else {
      this->fetch(source, depth, end);
    }
  }
  __device__ __forceinline__ void finish(T* tile) const {
    if constexpr (!Source::kAsync) {
#pragma unroll
      for (int i = 0; i < Base::kLoads; ++i) {
        Packet<T, Base::kPack> pack;
#pragma unroll
        for (int j = 0; j < Base::kPack; ++j) pack.at[j] = this->values[i][j];
        *reinterpret_cast<Packet<T, Base::kPack>*>(
            tile + Layout::offset(Base::line_of(i), Base::depth_of(i))) = pack;
      }
    }
  }
};

// Two blocks to a multiprocessor, so that one multiplies while the other waits for memory: 128
// registers a thread in the larger tile, half of them sums.
template <class Tile, class A, class B, class Sink>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    product_mma_three_stages(A a, B b, Sink sink, ProductGrid<float> grid) {
  using T = typename Tile::Element;
  using LayoutA = MmaLayout<A::kDeep, Tile::kM, Tile::kK>;
  using LayoutB = MmaLayout<B::kDeep, Tile::kN, Tile::kK>;
  constexpr int kStages = Tile::kStages;
  TAPER_DYNAMIC_SHARED(T, shared);
  T* const a_tiles = shared;
  T* const b_tiles = shared + kStages * LayoutA::kSize;

  const TilePlace place = tile_place(grid);
  const int begin = static_cast<int>(blockIdx.z) * grid.depth_per_part;
  const int left = grid.depth - begin;
  const int end = begin + (left < grid.depth_per_part ? left : grid.depth_per_part);
  const int tiles = (end - begin + Tile::kK - 1) / Tile::kK;

  MmaLoader<A, Tile::kM, Tile::kK, Tile::kThreads> load_a;
  MmaLoader<B, Tile::kN, Tile::kK, Tile::kThreads> load_b;
  load_a.start(a, place.m * Tile::kM);
  load_b.start(b, place.n * Tile::kN);
  const auto begin_loads = [&](int t) {
    load_a.begin(a_tiles + t % kStages * LayoutA::kSize, a, begin + t * Tile::kK, end);
    load_b.begin(b_tiles + t % kStages * LayoutB::kSize, b, begin + t * Tile::kK, end);
  };
  const auto finish_loads = [&](int t) {
    load_a.finish(a_tiles + t % kStages * LayoutA::kSize);
    load_b.finish(b_tiles + t % kStages * LayoutB::kSize);
  };

  constexpr int kFragmentsM = Tile::kRowsOfWarp / 16, kFragmentsN = Tile::kColsOfWarp / 8;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp_m = warp / Tile::kWarpsN * Tile::kRowsOfWarp;
  const int warp_n = warp % Tile::kWarpsN * Tile::kColsOfWarp;
  // Which row of the four 8x8 tiles of an ldmatrix this lane points to.
  const int row = lane % 8, second = lane / 8 % 2 * 8, third = lane / 16 * 8;
  float sums[kFragmentsM][kFragmentsN][4] = {};

  for (int t = 0; t < kStages - 1; ++t) {
    if (t < tiles) {
      begin_loads(t);
      finish_loads(t);
    }
    cp_async_commit();
  }
  for (int t = 0; t < tiles; ++t) {
    cp_async_wait<kStages - 2>();
    __syncthreads();  // tile t is there for all, and all have done with t - 1
    const int next = t + kStages - 1;
    if (next < tiles) begin_loads(next);
    cp_async_commit();

    const T* const a_tile = a_tiles + t % kStages * LayoutA::kSize;
    const T* const b_tile = b_tiles + t % kStages * LayoutB::kSize;
#pragma unroll
    for (int k = 0; k < Tile::kK; k += 16) {
      uint32_t x[kFragmentsM][4], y[kFragmentsN][2];
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) {
        const int m = warp_m + 16 * i;
        if constexpr (A::kDeep) {
          ldmatrix<4>(x[i], a_tile + LayoutA::offset(m + second + row, k + third));
        } else {
          ldmatrix_transposed<4>(x[i], a_tile + LayoutA::offset(m + second, k + third + row));
        }
      }
#pragma unroll
      for (int j = 0; j < kFragmentsN; j += 2) {
        const int n = warp_n + 8 * j;
        uint32_t pair[4];
        if constexpr (B::kDeep) {
          ldmatrix<4>(pair, b_tile + LayoutB::offset(n + third + row, k + second));
        } else {
          ldmatrix_transposed<4>(pair, b_tile + LayoutB::offset(n + third, k + second + row));
        }
        y[j][0] = pair[0], y[j][1] = pair[1];
        y[j + 1][0] = pair[2], y[j + 1][1] = pair[3];
      }
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
        for (int j = 0; j < kFragmentsN; ++j) mma_m16n8k16<T>(sums[i][j], x[i], y[j]);
      }
    }
    if (next < tiles) finish_loads(next);
  }

  const int group = lane / 4, in_group = lane % 4;
#pragma unroll
  for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
    for (int j = 0; j < kFragmentsN; ++j) {
      const int m = place.m * Tile::kM + warp_m + 16 * i + group;
      const int n = place.n * Tile::kN + warp_n + 8 * j + 2 * in_group;
      const float upper[2] = {sums[i][j][0], sums[i][j][1]};
      const float lower[2] = {sums[i][j][2], sums[i][j][3]};
      store_sums(sink, grid, m, n, upper);
      store_sums(sink, grid, m + 8, n, lower);
    }
  }
}

}  // namespace taper::kernels::cuda
