#include "taper/kernels/cpu/gemm_blocked.h"

#include <algorithm>
#include <utility>

#include "taper/kernels/cpu/gemm_tile.h"
#include "taper/kernels/cpu/gemm_transpose.h"

// The loops around the tile kernel. B is cut into panels of a tile's width, kDepth deep, which stay
// in the first-level cache while blocks of A stream by from the second level. An operand that will
// be read only a few times is used where it stands, without packing.

TAPER_CPU_BEGIN
namespace {

constexpr int64_t kDepth = 384;  // of k per pass: a panel of B about fills the first-level cache
constexpr int64_t kBlockRows = 336;  // of A per pass, divisible by all tile heights
constexpr int64_t kBlockCols = 1024;

/// Whether lines `stride` elements apart fall into so few cache sets that they drive each other
/// out.
template <class T>
bool collides(int64_t stride) {
  return stride * static_cast<int64_t>(sizeof(T)) % 2048 == 0 && stride != 0;
}

/// out[p * out_stride + i] = in[i * row + p * col] for i < rows, p < k. `out_stride` is `rows`, or
/// that rounded up to whole vectors, the lanes between becoming 0.
template <class T, class S>
void pack_panel(T* out, int64_t out_stride, const S* in, int64_t row, int64_t col, int64_t rows,
                int64_t k) {
  constexpr int64_t n = Vec<T>::kSize;
  if (row == 1) {
    for (int64_t p = 0; p < k; ++p) {
      T* to = out + p * out_stride;
      const S* from = in + p * col;
      int64_t i = 0;
      for (; i + n <= rows; i += n) load<S>(from + i).store(to + i);
      if (i < rows) {
        const Vec<T> rest = load<S>(from + i, rows - i);
        if (i + n <= out_stride) {
          rest.store(to + i);
        } else {
          rest.store(to + i, rows - i);
        }
      }
    }
  } else {
    if (rows < out_stride) std::fill(out, out + k * out_stride, T(0));
    transpose(out, out_stride, in, row, rows, k);
  }
}

/// Packs panels of a tile's width out of `cols` columns of B. Rows of B are read kGroup panels at a
/// time: longer runs are friendlier to the memory than one panel's width.
template <class T, class S>
void pack_panels(T* out, const S* in, int64_t row, int64_t col, int64_t cols, int64_t k) {
  constexpr int64_t kGroup = 4, kWidth = kTileCols<T>, n = Vec<T>::kSize;
  int64_t j = 0;
  if (col == 1) {
    for (; j + kGroup * kWidth <= cols; j += kGroup * kWidth) {
      for (int64_t p = 0; p < k; ++p) {
        const S* from = in + p * row + j;
        T* to = out + j * k + p * kWidth;
#pragma GCC unroll 8
        for (int64_t group = 0; group < kGroup; ++group) {
          for (int64_t v = 0; v < kWidth; v += n) {
            load<S>(from + group * kWidth + v).store(to + group * kWidth * k + v);
          }
        }
      }
    }
  }
  for (; j < cols; j += kWidth) {
    const int64_t width = std::min(kWidth, cols - j);
    pack_panel(out + j * k, round_up(width, n), in + j * col, col, row, width, k);
  }
}

/// Rows [begin, begin + count) of tile number `index` when `rows` are dealt evenly to `tiles`
/// tiles.
struct Share {
  int64_t begin;
  int count;
};
Share share_of(int64_t rows, int64_t tiles, int64_t index) {
  if (tiles == 1) return {0, static_cast<int>(rows)};
  const int64_t base = rows / tiles, longer = rows % tiles;
  return {index * base + std::min(index, longer), static_cast<int>(base + (index < longer))};
}

/// Adds the tile to C: bias and beta with the first pass over k, relu with the last.
template <class T, class S>
void finish_tile(T* tile, int64_t rows, int64_t cols, int64_t i0, int64_t j0, bool first, bool last,
                 const GemmProblem<T, S>& g) {
  constexpr int64_t stride = kTileCols<T>, n = Vec<T>::kSize;
  T* c = g.c + i0 * g.c_row + j0 * g.c_col;
  const T beta = first ? g.beta : T(1);
  const T* row_bias = first && g.row_bias ? g.row_bias + i0 : nullptr;
  const T* col_bias = first && g.col_bias ? g.col_bias + j0 : nullptr;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; j += n) {
      const int64_t count = std::min(n, cols - j);
      Vec<T> sum = Vec<T>::load(tile + i * stride + j) * Vec<T>(g.alpha);
      if (row_bias) sum += Vec<T>(row_bias[i]);
      if (col_bias) sum += Vec<T>::load(col_bias + j, count);
      if (beta != T(0)) {
        if (g.c_col == 1) {
          sum = fma(Vec<T>(beta), Vec<T>::load(c + i * g.c_row + j, count), sum);
        } else {
          T old[n];
          for (int64_t lane = 0; lane < n; ++lane) {
            old[lane] = lane < count ? c[i * g.c_row + (j + lane) * g.c_col] : T(0);
          }
          sum = fma(Vec<T>(beta), Vec<T>::load(old), sum);
        }
      }
      if (last && g.relu) sum = select(sum < Vec<T>(T(0)), Vec<T>(T(0)), sum);
      if (g.c_col != 1) {
        sum.store(tile + i * stride + j);
      } else if (count == n) {
        sum.store(c + i * g.c_row + j);
      } else {
        sum.store(c + i * g.c_row + j, count);
      }
    }
  }
  if (g.c_col != 1) transpose(c, g.c_col, tile, stride, rows, cols);
}

/// How an operand is brought to the tile kernel, chosen by how often it will be read.
struct Choice {
  bool pack_a, pack_b;
};

template <class T, class S>
Choice choose(const GemmProblem<T, S>& g) {
  constexpr bool kWidens = !std::is_same_v<T, S>;
  const bool few_rows = g.m <= 8 * kTileRows;
  const int64_t a_stride = g.a_row == 1 ? g.a_col : g.a_row;
  Choice choice;
  // Rows of B read as they stand cost little, unless they drive each other out of the cache.
  const bool few_reads = collides<T>(g.b_row) ? few_rows || g.k * g.n <= 4096 : g.m <= kBlockRows;
  choice.pack_b = kWidens || g.b_col != 1 || !few_reads;
  choice.pack_a =
      kWidens || g.n > 512 || (g.n > 2 * kTileCols<T> && g.k > 16 && collides<T>(a_stride));
  return choice;
}

/// Estimated cycles: the tile kernels plus what packing and a transposed result add.
template <class T, class S>
double cost(const GemmProblem<T, S>& g) {
  const Choice choice = choose(g);
  const double k = static_cast<double>(g.k);
  const double vectors = static_cast<double>((g.n + Vec<T>::kSize - 1) / Vec<T>::kSize);
  const double tiles = static_cast<double>((g.m + kTileRows - 1) / kTileRows);
  // Two multiply-adds a cycle, but a tile with few accumulators waits for their latency.
  double cycles = k * vectors * std::max(0.5 * static_cast<double>(g.m), 2.0 * tiles);
  if (choice.pack_b) cycles += k * static_cast<double>(g.n) * (g.b_col == 1 ? 0.2 : 0.5);
  if (choice.pack_a) cycles += k * static_cast<double>(g.m) * (g.a_row == 1 ? 0.2 : 0.5);
  if (g.c_col != 1) cycles += 0.6 * static_cast<double>(g.m * g.n);
  return cycles;
}

/// The same product seen as C^T = B^T * A^T.
template <class T, class S>
GemmProblem<T, S> transposed(const GemmProblem<T, S>& g) {
  GemmProblem<T, S> t = g;
  std::swap(t.m, t.n);
  t.a = g.b, t.a_row = g.b_col, t.a_col = g.b_row;
  t.b = g.a, t.b_row = g.a_col, t.b_col = g.a_row;
  std::swap(t.c_row, t.c_col);
  std::swap(t.row_bias, t.col_bias);
  return t;
}

/// One block of A (rows [i0, i0 + m)) against one block of B, over k elements from p0.
template <class T, class S>
void multiply_block(const GemmProblem<T, S>& g, Choice choice, int64_t i0, int64_t m, int64_t j0,
                    int64_t n, int64_t p0, int64_t k, T* packed_a, T* packed_b) {
  const bool first = p0 == 0, last = p0 + k == g.k;
  const bool plain = g.c_col == 1 && g.alpha == T(1) && !(first && (g.row_bias || g.col_bias)) &&
                     !(last && g.relu) && (!first || g.beta == T(0) || g.beta == T(1));
  const bool accumulate = !first || g.beta == T(1);
  const int64_t tiles = (m + kTileRows - 1) / kTileRows;
  const bool adjacent = choice.pack_a || g.a_row == 1;
  alignas(64) T tile[kTileRows * kTileCols<T>];

  for (int64_t j = 0; j < n; j += kTileCols<T>) {
    const int64_t cols = std::min<int64_t>(kTileCols<T>, n - j);
    const int vectors = cols > Vec<T>::kSize ? 2 : 1;
    const bool whole = cols == vectors * Vec<T>::kSize;
    const T* b;
    int64_t b_stride = vectors * Vec<T>::kSize;
    if (choice.pack_b) {
      b = packed_b + j * k;
    } else if (whole) {
      if constexpr (std::is_same_v<T, S>) b = g.b + p0 * g.b_row + j0 + j;
      b_stride = g.b_row;
    } else {
      pack_panel(packed_b, b_stride, g.b + p0 * g.b_row + j0 + j, 1, g.b_row, cols, k);
      b = packed_b;
    }
    for (int64_t t = 0; t < tiles; ++t) {
      const Share rows = share_of(m, tiles, t);
      const T* a = nullptr;
      int64_t a_stride = rows.count;
      if (choice.pack_a) {
        a = packed_a + rows.begin * k;
      } else {
        if constexpr (std::is_same_v<T, S>) a = g.a + (i0 + rows.begin) * g.a_row + p0 * g.a_col;
        a_stride = adjacent ? g.a_col : g.a_row;
      }
      const TileKernel<T> kernel = tile_kernel<T>(rows.count, vectors, adjacent);
      if (plain && whole) {
        kernel(k, a, a_stride, b, b_stride, g.c + (i0 + rows.begin) * g.c_row + j0 + j, g.c_row,
               accumulate);
      } else {
        kernel(k, a, a_stride, b, b_stride, tile, kTileCols<T>, false);
        finish_tile(tile, rows.count, cols, i0 + rows.begin, j0 + j, first, last, g);
      }
    }
  }
}

template <class T, class S>
void run_oriented(const GemmProblem<T, S>& g, T* workspace) {
  const Choice choice = choose(g);
  const int64_t depth = std::min(g.k, kDepth);
  T* packed_a = workspace;
  T* packed_b = workspace + (choice.pack_a ? std::min(g.m, kBlockRows) * depth : 0);
  const int64_t block_cols = choice.pack_b ? kBlockCols : g.n;

  for (int64_t j0 = 0; j0 < g.n; j0 += block_cols) {
    const int64_t n = std::min(block_cols, g.n - j0);
    int64_t p0 = 0;
    do {  // once for k = 0, too: then C is scaled or biased alone
      const int64_t k = std::min(kDepth, g.k - p0);
      if (choice.pack_b) {
        pack_panels(packed_b, g.b + p0 * g.b_row + j0 * g.b_col, g.b_row, g.b_col, n, k);
      }
      for (int64_t i0 = 0; i0 < g.m; i0 += kBlockRows) {
        const int64_t m = std::min(kBlockRows, g.m - i0);
        if (choice.pack_a) {
          const int64_t tiles = (m + kTileRows - 1) / kTileRows;
          for (int64_t t = 0; t < tiles; ++t) {
            const Share rows = share_of(m, tiles, t);
            pack_panel(packed_a + rows.begin * k, rows.count,
                       g.a + (i0 + rows.begin) * g.a_row + p0 * g.a_col, g.a_row, g.a_col,
                       rows.count, k);
          }
        }
        multiply_block(g, choice, i0, m, j0, n, p0, k, packed_a, packed_b);
      }
      p0 += k;
    } while (p0 < g.k);
  }
}

}  // namespace

template <class T>
int64_t gemm_workspace(int64_t m, int64_t n, int64_t k) {
  const int64_t depth = std::min(k, kDepth);
  // Either operand may take either role.
  const int64_t rows = std::min(std::max(m, n), kBlockRows);
  const int64_t cols = round_up(std::min(std::max(m, n), kBlockCols), kTileCols<T>);
  return (rows + cols) * depth + Vec<T>::kSize;
}

template <class T, class S>
void run_gemm(const GemmProblem<T, S>& g, T* workspace) {
  if (g.m == 0 || g.n == 0) return;
  const bool natural = g.b_col == 1 && g.c_col == 1 && g.n >= Vec<T>::kSize / 2;
  if (natural) return run_oriented(g, workspace);
  const GemmProblem<T, S> t = transposed(g);
  if (cost(t) < cost(g)) return run_oriented(t, workspace);
  run_oriented(g, workspace);
}

template int64_t gemm_workspace<float>(int64_t, int64_t, int64_t);
template int64_t gemm_workspace<double>(int64_t, int64_t, int64_t);
template void run_gemm(const GemmProblem<float>&, float*);
template void run_gemm(const GemmProblem<double>&, double*);
template void run_gemm(const GemmProblem<float, Half>&, float*);
template void run_gemm(const GemmProblem<float, BFloat16>&, float*);

TAPER_CPU_END
