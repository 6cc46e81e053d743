#pragma once

#include <algorithm>

#include "taper/kernels/cpu/gemm_blocked.h"

// Matrix times vector: every element of the matrix is used once, so it is read in place, in order.

TAPER_CPU_BEGIN
namespace detail {

/// out[r] = dot(a + r * stride, x) for `kRows` adjacent rows.
template <int kRows, class T, class S>
TAPER_INLINE void dot_rows(T* out, const S* a, int64_t stride, const T* x, int64_t k) {
  constexpr int64_t n = Vec<T>::kSize;
  Vec<T> even[kRows], odd[kRows];
  for (int r = 0; r < kRows; ++r) even[r] = odd[r] = T(0);
  int64_t p = 0;
  for (; p + 2 * n <= k; p += 2 * n) {
    const Vec<T> x0 = Vec<T>::load(x + p), x1 = Vec<T>::load(x + p + n);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      even[r] = fma(load<S>(a + r * stride + p), x0, even[r]);
      odd[r] = fma(load<S>(a + r * stride + p + n), x1, odd[r]);
    }
  }
  for (; p < k; p += n) {
    const int64_t count = std::min(n, k - p);
    const bool whole = count == n;
    const Vec<T> x0 = whole ? Vec<T>::load(x + p) : Vec<T>::load(x + p, count);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const S* from = a + r * stride + p;
      even[r] = fma(whole ? load<S>(from) : load<S>(from, count), x0, even[r]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) out[r] = reduce_add(even[r] + odd[r]);
}

/// sum[0, count) = columns of a, `k` rows of it, weighted by x. The sums stay in the first-level
/// cache.
template <class T, class S>
void sum_columns(T* sum, int64_t count, const S* a, int64_t stride, const T* x, int64_t k) {
  constexpr int64_t n = Vec<T>::kSize;
  constexpr int kGroup = 8;
  std::fill(sum, sum + count, T(0));
  int64_t p = 0;
  for (; p + kGroup <= k; p += kGroup) {
    Vec<T> weight[kGroup];
    for (int r = 0; r < kGroup; ++r) weight[r] = x[p + r];
    const S* from = a + p * stride;
    int64_t j = 0;
    for (; j + n <= count; j += n) {
      Vec<T> total = Vec<T>::load(sum + j);
#pragma GCC unroll 8
      for (int r = 0; r < kGroup; ++r)
        total = fma(load<S>(from + r * stride + j), weight[r], total);
      total.store(sum + j);
    }
    if (j < count) {
      Vec<T> total = Vec<T>::load(sum + j, count - j);
#pragma GCC unroll 8
      for (int r = 0; r < kGroup; ++r) {
        total = fma(load<S>(from + r * stride + j, count - j), weight[r], total);
      }
      total.store(sum + j, count - j);
    }
  }
  for (; p < k; ++p) {
    const S* from = a + p * stride;
    for (int64_t j = 0; j < count; ++j) sum[j] += x[p] * static_cast<T>(from[j]);
  }
}

}  // namespace detail

/// Rows [begin, end) of A * x, x being the dense column B: out[i - begin], before alpha, beta and
/// bias.
template <class T, class S>
void multiply_vector(T* out, const GemmProblem<T, S>& g, const T* x, int64_t begin, int64_t end) {
  if (g.a_col == 1) {
    int64_t i = begin;
    for (; i + 4 <= end; i += 4) {
      detail::dot_rows<4>(out + i - begin, g.a + i * g.a_row, g.a_row, x, g.k);
    }
    for (; i < end; ++i) detail::dot_rows<1>(out + i - begin, g.a + i * g.a_row, 0, x, g.k);
    return;
  }
  constexpr int64_t kChunk = 1024;
  for (int64_t i = begin; i < end; i += kChunk) {
    const int64_t count = std::min(kChunk, end - i);
    detail::sum_columns(out + i - begin, count, g.a + i, g.a_col, x, g.k);
  }
}

TAPER_CPU_END
