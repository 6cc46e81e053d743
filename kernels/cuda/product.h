#pragma once

#include <algorithm>
#include <limits>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/product_fma.cuh"
#include "taper/kernels/cuda/device/product_mma.cuh"
#include "taper/kernels/cuda/dtypes.h"

// How a product is cut into tiles and parts, and launched. For .cu files.

namespace taper::kernels::cuda {

/// A grid's second and third dimension.
constexpr int64_t kMaxGridY = 65535;

struct ProductSize {
  int64_t m, n, depth;
  int64_t batch;  ///< up to kMaxGridY
};

inline bool fits_32_bits(int64_t size) {
  return size <= std::numeric_limits<int32_t>::max() - 1024;
}

template <class Tile>
int64_t tiles_of(const ProductSize& size) {
  return int64_t{ceil_div(size.m, Tile::kM)} * ceil_div(size.n, Tile::kN) * size.batch;
}

/// Few tiles leave multiprocessors idle: then the sum is cut into parts, two blocks for each
/// multiprocessor, as long as a part is worth its way through memory.
template <class Tile>
int64_t parts_of(const ProductSize& size, const Stream& stream) {
  constexpr int64_t kLeastDepth = 256, kMostSums = 1 << 24;
  const int64_t blocks = tiles_of<Tile>(size);
  const int64_t wanted = 2 * properties_of(stream.device).multi_processor_count / blocks;
  const int64_t sums = size.m * size.n * size.batch;
  return std::max<int64_t>(
      1, std::min({wanted, size.depth / kLeastDepth, kMostSums / sums, kMaxGridY}));
}

template <class Tile, class A, class B, class Sink>
Status launch_product(const Stream& stream, const A& a, const B& b, const Sink& sink,
                      const ProductGrid<typename Tile::Compute>& grid, const dim3& blocks) {
  if constexpr (requires { typename Tile::Element; }) {
    return launch(stream, product_mma_three_stages<Tile, A, B, Sink>, blocks, dim3(Tile::kThreads),
                  mma_shared_bytes<Tile, A, B>(), a, b, sink, grid);
  } else {
    return launch(stream, product_fma_double_buffered<Tile, A, B, Sink>, blocks,
                  dim3(Tile::kThreads), 0, a, b, sink, grid);
  }
}

template <class Tile, class A, class B, class Sink>
Status run_product(const Stream& stream, const A& a, const B& b, const Sink& sink,
                   const ProductSize& size) {
  using C = typename Tile::Compute;
  const int64_t wanted = parts_of<Tile>(size, stream);
  const int64_t tiles_deep = (size.depth + Tile::kK - 1) / Tile::kK;
  const int64_t tiles_per_part = std::max<int64_t>(1, (tiles_deep + wanted - 1) / wanted);
  const int64_t parts = std::max<int64_t>(1, (tiles_deep + tiles_per_part - 1) / tiles_per_part);
  ProductGrid<C> grid{};
  grid.m = static_cast<int>(size.m), grid.n = static_cast<int>(size.n);
  grid.depth = static_cast<int>(size.depth);
  grid.m_tiles = static_cast<int>(ceil_div(size.m, Tile::kM));
  grid.n_tiles = static_cast<int>(ceil_div(size.n, Tile::kN));
  grid.depth_per_part = static_cast<int>(tiles_per_part * Tile::kK);
  const dim3 blocks(static_cast<unsigned>(grid.m_tiles) * static_cast<unsigned>(grid.n_tiles),
                    static_cast<unsigned>(size.batch), static_cast<unsigned>(parts));
  if (parts == 1) return launch_product<Tile>(stream, a, b, sink, grid, blocks);

  const int64_t sums = size.m * size.n * size.batch;
  const Scratch<C> scratch(stream, parts * sums);
  if (!scratch.status().ok()) return scratch.status();
  grid.parts = scratch.get();
  TAPER_TRY(launch_product<Tile>(stream, a, b, sink, grid, blocks));
  const int most = 8 * properties_of(stream.device).multi_processor_count;
  const dim3 sum_blocks(
      std::min<unsigned>(ceil_div(sums, kSumThreads), static_cast<unsigned>(most)));
  return launch(stream, product_sum_parts<C, Sink>, sum_blocks, dim3(kSumThreads), 0, sink, grid,
                static_cast<int>(size.batch), static_cast<int>(parts));
}

}  // namespace taper::kernels::cuda
