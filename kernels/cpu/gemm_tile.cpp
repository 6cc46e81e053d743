#include "taper/kernels/cpu/gemm_tile.h"

#include <utility>

TAPER_CPU_BEGIN
namespace {

// How many steps of k ahead the operands are fetched: about the latency of the second-level cache.
constexpr int64_t kAheadInA = 16, kAheadInB = 8;

template <class T, int kRows, int kVectors, bool kAdjacentRows>
void multiply_tile(int64_t k, const T* __restrict__ a, int64_t a_stride, const T* __restrict__ b,
                   int64_t b_stride, T* __restrict__ out, int64_t out_stride, bool accumulate) {
  using Raw = typename Vec<T>::Raw;
  constexpr int kSize = Vec<T>::kSize;
  Raw acc[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) acc[i][v] = Raw{};
  }
  // C is far away when the sums are done; ask for it now.
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    __builtin_prefetch(out + i * out_stride, 1);
    __builtin_prefetch(out + i * out_stride + (kVectors - 1) * kSize, 1);
  }
  // Every third row has its own pointer: x86 addresses base + 0, 1 or 2 strides in one instruction.
  const T* row[(kRows + 2) / 3];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; i += 3) row[i / 3] = a + i * a_stride;

  // Rows of A as they stand are more streams than the processor foresees: where they are dense, the
  // tile below is fetched meanwhile, a line for each step.
  const char* below = reinterpret_cast<const char*>(a + kRows * a_stride);
  const int64_t below_step = a_stride == k ? 64 : 0;

  for (int64_t p = 0; p < k; ++p) {
    Raw bv[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) bv[v] = Vec<T>::load(b + v * kSize).raw;
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Raw av = Vec<T>(kAdjacentRows ? a[i] : row[i / 3][(i % 3) * a_stride + p]).raw;
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) acc[i][v] += av * bv[v];
    }
    if constexpr (kAdjacentRows) {
      __builtin_prefetch(a + kAheadInA * kRows);
      a += a_stride;
    } else {
      __builtin_prefetch(below);
      below += below_step;
    }
#pragma GCC unroll 2
    for (int64_t byte = 0; byte < kVectors * kVecBytes; byte += 64) {
      __builtin_prefetch(reinterpret_cast<const char*>(b + kAheadInB * b_stride) + byte);
    }
    b += b_stride;
  }
  if (accumulate) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        acc[i][v] += Vec<T>::load(out + i * out_stride + v * kSize).raw;
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      Vec<T>(acc[i][v]).store(out + i * out_stride + v * kSize);
    }
  }
}

template <class T>
struct TileTable {
  TileKernel<T> kernel[kTileRows][kTileVectors][2];
};

template <class T, int... kRow>
constexpr TileTable<T> make_table(std::integer_sequence<int, kRow...>) {
  return {{{{multiply_tile<T, kRow + 1, 1, false>, multiply_tile<T, kRow + 1, 1, true>},
            {multiply_tile<T, kRow + 1, 2, false>, multiply_tile<T, kRow + 1, 2, true>}}...}};
}

template <class T>
constexpr TileTable<T> kTable = make_table<T>(std::make_integer_sequence<int, kTileRows>{});

}  // namespace

template <class T>
TileKernel<T> tile_kernel(int rows, int vectors, bool adjacent_rows) {
  return kTable<T>.kernel[rows - 1][vectors - 1][adjacent_rows];
}

template TileKernel<float> tile_kernel<float>(int, int, bool);
template TileKernel<double> tile_kernel<double>(int, int, bool);

TAPER_CPU_END
