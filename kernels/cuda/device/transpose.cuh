#pragma once

#include "taper/kernels/cuda/device/walk.cuh"

// A copy between layouts that are dense along different dimensions. Tiles go through shared memory,
// so that a warp reads and writes runs of neighbours.

namespace taper::kernels::cuda {

constexpr int kTransposeTile = 32;
constexpr int kTransposeRows = 8;  ///< of a tile at a time: four loads of a thread overlap

struct TransposeCall {
  void* out;
  const void* in;
  int32_t out_dtype, in_dtype;  ///< ScalarTypes, for kernels that serve several
  int32_t sizes[2];             ///< along the out's and the in's inner dimension
  int32_t strides[2][2];        ///< [out, in], along these two
  Walk<1> tiles;                ///< dimensions 0 and 1 are these two
};

/// `Access` loads elements and stores them: as they are, or as another dtype. One tile per block.
template <class Access>
__global__ void __launch_bounds__(kTransposeTile* kTransposeRows)
    transpose_tiles(const __grid_constant__ TransposeCall call) {
  // The odd pitch spreads a column over all banks.
  TAPER_SHARED(typename Access::Element, tile, [kTransposeTile][kTransposeTile + 1]);
  const uint32_t i = blockIdx.x;
  int32_t offset[2];
  call.tiles.offsets(i, offset);
  const uint32_t above0 = call.tiles.sizes[0].quotient(i);
  const uint32_t above1 = call.tiles.sizes[1].quotient(above0);
  const auto tile0 = static_cast<int32_t>(i - above0 * call.tiles.sizes[0].divisor);
  const auto tile1 = static_cast<int32_t>(above0 - above1 * call.tiles.sizes[1].divisor);
  // What is left of the tensor from the tile's corner on.
  const int32_t rest0 = call.sizes[0] - tile0 * kTransposeTile;
  const int32_t rest1 = call.sizes[1] - tile1 * kTransposeTile;
  const auto lane = static_cast<int32_t>(threadIdx.x), row = static_cast<int32_t>(threadIdx.y);

#pragma unroll
  for (int32_t r = row; r < kTransposeTile; r += kTransposeRows) {
    if (r < rest0 && lane < rest1) {
      tile[r][lane] =
          Access::load(call, offset[1] + r * call.strides[1][0] + lane * call.strides[1][1]);
    }
  }
  __syncthreads();  // rows become columns: other threads' elements
#pragma unroll
  for (int32_t r = row; r < kTransposeTile; r += kTransposeRows) {
    if (lane < rest0 && r < rest1) {
      Access::store(call, offset[0] + lane * call.strides[0][0] + r * call.strides[0][1],
                    tile[lane][r]);
    }
  }
}

}  // namespace taper::kernels::cuda
