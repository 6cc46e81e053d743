#pragma once

#include "taper/kernels/cpu/vec.h"

// The innermost kernel of matrix products: a tile of C held in registers, `rows` x `vectors` of
// them.

TAPER_CPU_BEGIN

// Tile heights such that accumulators, one row of B and one element of A just fit the registers.
#if defined(__AVX512F__)
constexpr int kTileRows = 14;
#elif defined(__AVX2__)
constexpr int kTileRows = 6;
#else
constexpr int kTileRows = 4;
#endif
constexpr int kTileVectors = 2;
template <class T>
constexpr int kTileCols = kTileVectors * Vec<T>::kSize;

/// out[i][j] (+)= sum over p of A(i, p) * b[p * b_stride + j], j over `vectors` full vectors. A(i,
/// p) is a[p * a_stride + i] where the rows are adjacent (packed or transposed), else a[i *
/// a_stride + p].
template <class T>
using TileKernel = void (*)(int64_t k, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                            T* out, int64_t out_stride, bool accumulate);

/// 1 <= rows <= kTileRows, 1 <= vectors <= kTileVectors.
template <class T>
TileKernel<T> tile_kernel(int rows, int vectors, bool adjacent_rows);

TAPER_CPU_END
