#pragma once

#include "taper/kernels/cpu/reduce_floating.h"

// Mean and spread of many numbers in one walk over memory: two passes over each block while it is
// in the cache, then blocks merged by the formula of Chan, Golub and LeVeque in double.

TAPER_CPU_BEGIN

struct Moments {
  double mean;
  double m2;  ///< sum of squared distances from the mean
  double count;
};

TAPER_INLINE void merge_moments(Moments& into, const Moments& from) {
  if (from.count == 0) return;
  if (into.count == 0) {
    into = from;
    return;
  }
  const double count = into.count + from.count;
  const double distance = from.mean - into.mean;
  into.mean += distance * (from.count / count);
  into.m2 += from.m2 + distance * distance * (into.count * from.count / count);
  into.count = count;
}

/// From sums around a rounded mean, which leaves a remainder to put right.
TAPER_INLINE Moments make_moments(double mean, double sum, double squares, double count) {
  return {mean + sum / count, squares - sum * sum / count, count};
}

template <class T>
Moments moments_block(const T* in, int64_t count, double) {
  using V = packet_t<T>;
  using C = typename V::Scalar;
  constexpr int64_t kLanes = V::kSize;
  const C mean = float_block<FloatSum, T>(in, count, 0) / static_cast<C>(count);
  V sum[4], squares[4];
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) sum[k] = squares[k] = V(0);
  const auto add = [&](int k, V d) {
    sum[k] += d;
    squares[k] = fma(d, d, squares[k]);
  };
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) add(k, load(in + i + k * kLanes) - V(mean));
  }
  for (; i + kLanes <= count; i += kLanes) add(0, load(in + i) - V(mean));
  if (i < count) {
    add(1, keep_lanes<AddFold>(load(in + i, count - i) - V(mean), count - i));
  }
  return make_moments(mean, reduce_add((sum[0] + sum[1]) + (sum[2] + sum[3])),
                      reduce_add((squares[0] + squares[1]) + (squares[2] + squares[3])),
                      static_cast<double>(count));
}

/// Any number of elements side by side.
template <class T>
Moments moments_run(const T* in, int64_t count) {
  Moments all{0, 0, 0};
  for (int64_t i = 0; i < count; i += kReduceBlock) {
    merge_moments(all, moments_block(in + i, std::min(kReduceBlock, count - i), 0));
  }
  return all;
}

template <class T>
void moments_columns(Moments* acc, const T* const* rows, int64_t row_count, int64_t columns,
                     double) {
  using V = packet_t<T>;
  using C = typename V::Scalar;
  alignas(64) C mean[kReduceStrip], sum[kReduceStrip], squares[kReduceStrip];
  float_columns<FloatSum, T>(mean, rows, row_count, columns, 0);
  for (int64_t c = 0; c < columns; ++c) {
    mean[c] /= static_cast<C>(row_count);
    sum[c] = squares[c] = 0;
  }
  for (int64_t r = 0; r < row_count; ++r) {
    const T* row = rows[r];
    int64_t c = 0;
    for (; c + V::kSize <= columns; c += V::kSize) {
      const V d = load(row + c) - V::load(mean + c);
      (V::load(sum + c) + d).store(sum + c);
      fma(d, d, V::load(squares + c)).store(squares + c);
    }
    for (; c < columns; ++c) {
      const C d = C(row[c]) - mean[c];
      sum[c] += d;
      squares[c] += d * d;
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    acc[c] = make_moments(mean[c], sum[c], squares[c], static_cast<double>(row_count));
  }
}

inline void moments_combine(Moments* into, const Moments* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) merge_moments(into[i], from[i]);
}

/// The walk of reduce_driver.h for moments; `finish` and `p` are the caller's.
template <class T>
constexpr Reducer<T, Moments> moments_reducer(decltype(Reducer<T, Moments>::finish) finish) {
  return {moments_block<T>, moments_columns<T>, moments_combine, finish, {0, 0, 0}, nullptr};
}

TAPER_CPU_END
