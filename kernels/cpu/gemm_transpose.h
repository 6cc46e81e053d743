#pragma once

#include <cstdint>
#include <utility>

#include "taper/kernels/cpu/vec.h"

// Transposition in registers, and of strided blocks in memory, for the dense kernels.

TAPER_CPU_BEGIN

namespace detail {
template <int kStep, class Raw, int... kLane>
TAPER_INLINE void exchange(Raw& a, Raw& b, std::integer_sequence<int, kLane...>) {
  constexpr int n = sizeof...(kLane);
  const Raw low = __builtin_shufflevector(a, b, (kLane & kStep ? n + kLane - kStep : kLane)...);
  b = __builtin_shufflevector(a, b, (kLane & kStep ? n + kLane : kLane + kStep)...);
  a = low;
}
template <int kStep, class Raw, int n>
TAPER_INLINE void transpose_from(Raw (&rows)[n]) {
  if constexpr (kStep < n) {
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      if (!(i & kStep)) {
        exchange<kStep>(rows[i], rows[i + kStep], std::make_integer_sequence<int, n>{});
      }
    }
    transpose_from<kStep * 2>(rows);
  }
}
template <class Raw, int... kLane>
TAPER_INLINE Raw even_lanes(Raw low, Raw high, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(low, high, 2 * kLane...);
}
}  // namespace detail

/// Lanes 0, 2, 4, ... of two packets in a row.
template <class T>
TAPER_INLINE Vec<T> even_lanes(Vec<T> low, Vec<T> high) {
  return detail::even_lanes(low.raw, high.raw, std::make_integer_sequence<int, Vec<T>::kSize>{});
}

/// Transposes a square of registers: blocks of 1, 2, 4, ... lanes change places across the
/// diagonal.
template <class T>
TAPER_INLINE void transpose_square(typename Vec<T>::Raw (&rows)[Vec<T>::kSize]) {
  detail::transpose_from<1>(rows);
}

/// out[j * out_stride + i] = in[i * in_stride + j] for i in [0, rows), j in [0, cols), rows and
/// cols at most kSize; halves are widened on the way.
template <class T, class S>
TAPER_INLINE void transpose_block(T* out, int64_t out_stride, const S* in, int64_t in_stride,
                                  int rows, int cols) {
  constexpr int n = Vec<T>::kSize;
  typename Vec<T>::Raw block[n];
  if (rows == n && cols == n) {
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) block[i] = load<S>(in + i * in_stride).raw;
    transpose_square<T>(block);
#pragma GCC unroll 16
    for (int j = 0; j < n; ++j) Vec<T>(block[j]).store(out + j * out_stride);
    return;
  }
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) {
    block[i] = i < rows ? load<S>(in + i * in_stride, cols).raw : typename Vec<T>::Raw{};
  }
  transpose_square<T>(block);
#pragma GCC unroll 16
  for (int j = 0; j < n; ++j) {
    if (j < cols) Vec<T>(block[j]).store(out + j * out_stride, rows);
  }
}

/// The same for any number of rows and columns.
template <class T, class S>
void transpose(T* out, int64_t out_stride, const S* in, int64_t in_stride, int64_t rows,
               int64_t cols) {
  constexpr int64_t n = Vec<T>::kSize;
  for (int64_t i = 0; i < rows; i += n) {
    const int height = static_cast<int>(rows - i < n ? rows - i : n);
    for (int64_t j = 0; j < cols; j += n) {
      const int width = static_cast<int>(cols - j < n ? cols - j : n);
      transpose_block(out + j * out_stride + i, out_stride, in + i * in_stride + j, in_stride,
                      height, width);
    }
  }
}

TAPER_CPU_END
