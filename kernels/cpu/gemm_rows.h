#pragma once

#include "taper/kernels/cpu/vec.h"

// Rows of numbers for the dense kernels, in the stored type S and the computed type T (float for
// halves).

TAPER_CPU_BEGIN

template <class T, class S>
void widen_row(T* out, const S* in, int64_t count) {
  constexpr int64_t n = Vec<T>::kSize;
  int64_t i = 0;
  for (; i + n <= count; i += n) load<S>(in + i).store(out + i);
  if (i == count) return;
  if (sizeof(S) == 2 && count > n) {  // a partial load of halves goes one by one: overlap instead
    load<S>(in + count - n).store(out + count - n);
  } else {
    load<S>(in + i, count - i).store(out + i, count - i);
  }
}
template <class T, class S>
void narrow_row(S* out, const T* in, int64_t count) {
  constexpr int64_t n = Vec<T>::kSize;
  int64_t i = 0;
  for (; i + n <= count; i += n) store<S>(out + i, Vec<T>::load(in + i));
  if (i < count) store<S>(out + i, Vec<T>::load(in + i, count - i), count - i);
}

/// The sum of `count` numbers.
template <class T, class S>
T sum_row(const S* in, int64_t count) {
  constexpr int64_t n = Vec<T>::kSize;
  Vec<T> sum[4] = {T(0), T(0), T(0), T(0)};
  int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sum[v] += load<S>(in + i + v * n);
  }
  for (; i + n <= count; i += n) sum[0] += load<S>(in + i);
  if (i < count) sum[1] += load<S>(in + i, count - i);
  return reduce_add((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/// first[i] += the other `parts` - 1 rows, `stride` apart, in their order.
template <class T>
void sum_parts(T* first, int64_t stride, int64_t parts, int64_t count, const Stream& stream) {
  if (parts <= 1) return;
  parallel_for(stream, count, 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t part = 1; part < parts; ++part) {
      const T* from = first + part * stride;
      for (int64_t i = begin; i < end; ++i) first[i] += from[i];
    }
  });
}

TAPER_CPU_END
