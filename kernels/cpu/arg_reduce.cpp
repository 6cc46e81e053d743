#include <algorithm>
#include <limits>

#include "taper/kernels/cpu/vec.h"

// Positions of the largest or smallest elements: the first of equals, NaN before all. A row is
// first searched for its best value alone, which needs no positions in registers, and then for
// where that stands.

TAPER_CPU_BEGIN

namespace {

constexpr int64_t kBlock = 2048;       // elements: searched twice while in L1
constexpr int64_t kChunk = 64 * 1024;  // of one row, for one task
constexpr int64_t kStrip = 256;        // columns searched together
constexpr int64_t kGrain = 16 * 1024;  // elements worth a thread

template <class T>
constexpr bool kFloating = is_floating_point(dtype_of<T>);
template <class T>
using Compared = std::conditional_t<kFloating<T>, acc_t<T>, T>;

template <class C>
TAPER_INLINE bool is_nan(C x) {
  if constexpr (std::is_floating_point_v<C>)
    return x != x;
  else
    return false;
}

/// Whether `x`, which comes later, takes the place of `best`.
template <ArgOp kOp, class C>
TAPER_INLINE bool beats(C x, C best) {
  const bool closer = kOp == ArgOp::kMax ? x > best : x < best;
  return closer | (is_nan(x) & !is_nan(best));
}

template <ArgOp kOp, class T>
TAPER_INLINE Compared<T> best_of_block(const T* in, int64_t count) {
  if constexpr (kFloating<T>) {
    using V = packet_t<T>;
    constexpr int64_t kLanes = V::kSize;
    const auto better = [](V a, V b) { return kOp == ArgOp::kMax ? max(a, b) : min(a, b); };
    if (count < kLanes) {
      Compared<T> best = in[0];
      for (int64_t i = 1; i < count; ++i) {
        if (beats<kOp>(Compared<T>(in[i]), best)) best = in[i];
      }
      return best;
    }
    // The processor's max drops a NaN that comes as the first operand; it is noted aside.
    V best[4];
    Mask<typename V::Scalar> nan[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      best[k] = V(kOp == ArgOp::kMax ? -std::numeric_limits<float>::infinity()
                                     : std::numeric_limits<float>::infinity());
      nan[k] = isnan(best[k]);
    }
    const auto look = [&](int k, const T* from) {
      const V x = load(from);
      best[k] = better(x, best[k]);
      nan[k] = nan[k] | isnan(x);
    };
    int64_t i = 0;
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) look(k, in + i + k * kLanes);
    }
    for (; i + kLanes <= count; i += kLanes) look(0, in + i);
    if (i < count) look(1, in + count - kLanes);  // overlaps what has been seen, which does no harm
    if (any((nan[0] | nan[1]) | (nan[2] | nan[3]))) {
      return std::numeric_limits<Compared<T>>::quiet_NaN();
    }
    const V all = better(better(best[0], best[1]), better(best[2], best[3]));
    return kOp == ArgOp::kMax ? reduce_max(all) : reduce_min(all);
  } else {
    T best = in[0];
    for (int64_t i = 1; i < count; ++i) {
      best = kOp == ArgOp::kMax ? std::max(best, in[i]) : std::min(best, in[i]);
    }
    return best;
  }
}

/// The first element that equals `best`, or the first NaN when that is one. There is such an
/// element.
template <class T>
TAPER_INLINE int64_t position_of(const T* in, int64_t count, Compared<T> best) {
  int64_t i = 0;
  if constexpr (kFloating<T>) {
    using V = packet_t<T>;
    const V wanted(best);
    const bool nan = is_nan(best);
    for (; i + V::kSize <= count; i += V::kSize) {
      const V x = load(in + i);
      if (any(nan ? isnan(x) : x == wanted)) break;
    }
    for (; i < count; ++i) {
      if (nan ? is_nan(Compared<T>(in[i])) : Compared<T>(in[i]) == best) return i;
    }
  } else {
    while (i < count && in[i] != best) ++i;
  }
  return i;
}

template <ArgOp kOp, class T>
int64_t search_run(const T* in, int64_t count) {
  int64_t best_start = 0;
  Compared<T> best = best_of_block<kOp>(in, std::min(kBlock, count));
  for (int64_t start = kBlock; start < count && !is_nan(best); start += kBlock) {
    const Compared<T> found = best_of_block<kOp>(in + start, std::min(kBlock, count - start));
    if (beats<kOp>(found, best)) {
      best = found;
      best_start = start;
    }
  }
  return best_start + position_of(in + best_start, std::min(kBlock, count - best_start), best);
}

template <ArgOp kOp, class T>
Status search_rows(T* values, int64_t* indices, const T* in, int64_t rows, int64_t size,
                   const Stream& stream) {
  const auto put = [&](int64_t row, int64_t position) {
    indices[row] = position;
    if (values) values[row] = in[row * size + position];
  };
  const int64_t chunks = (size + kChunk - 1) / kChunk;
  if (chunks == 1) {
    parallel_for(stream, rows, std::max<int64_t>(1, kGrain / size),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin; r < end; ++r)
                     put(r, search_run<kOp>(in + r * size, size));
                 });
    return {};
  }
  Scratch<int64_t> found(stream, rows * chunks);
  if (!found.get()) return found.failure();
  parallel_for(stream, rows * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t start = unit % chunks * kChunk;
      const T* run = in + unit / chunks * size + start;
      found[unit] = start + search_run<kOp>(run, std::min(kChunk, size - start));
    }
  });
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = in + r * size;
    int64_t best = found[r * chunks];
    for (int64_t k = 1; k < chunks; ++k) {
      const int64_t other = found[r * chunks + k];
      if (beats<kOp>(Compared<T>(row[other]), Compared<T>(row[best]))) best = other;
    }
    put(r, best);
  }
  return {};
}

/// Along an axis that is not the last: a strip of columns at a time. Positions have the width of a
/// float within one part of the axis, so that the compiler can keep them in the same lanes.
template <ArgOp kOp, class T>
void search_strip(T* values, int64_t* indices, const T* in, int64_t size, int64_t inner,
                  int64_t columns) {
  using C = Compared<T>;
  using Position = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;
  constexpr int64_t kPart = int64_t{1} << 30;
  C best[kStrip];
  Position position[kStrip];
  for (int64_t c = 0; c < columns; ++c) {
    best[c] = in[c];
    indices[c] = 0;
  }
  for (int64_t part = 0; part < size; part += kPart) {
    std::fill_n(position, columns, Position{-1});
    for (int64_t r = part; r < std::min(part + kPart, size); ++r) {
      const T* row = in + r * inner;
      const Position here = static_cast<Position>(r - part);
      for (int64_t c = 0; c < columns; ++c) {
        const C x = row[c];
        const bool wins = beats<kOp>(x, best[c]);
        best[c] = wins ? x : best[c];
        position[c] = wins ? here : position[c];
      }
    }
    for (int64_t c = 0; c < columns; ++c) {
      if (position[c] >= 0) indices[c] = part + position[c];
    }
  }
  if (values) {
    for (int64_t c = 0; c < columns; ++c) values[c] = in[indices[c] * inner + c];
  }
}

template <ArgOp kOp, class T>
Status search(T* values, int64_t* indices, const T* in, const AxisPlan& axis,
              const Stream& stream) {
  if (axis.outer == 0 || axis.size == 0 || axis.inner == 0) return {};
  if (axis.inner == 1) {
    return search_rows<kOp>(values, indices, in, axis.outer, axis.size, stream);
  }
  const int64_t strips = (axis.inner + kStrip - 1) / kStrip;
  const int64_t work = axis.size * std::min(axis.inner, kStrip);
  parallel_for(stream, axis.outer * strips, std::max<int64_t>(1, kGrain / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t outer = unit / strips, column = unit % strips * kStrip;
                   const int64_t to = outer * axis.inner + column;
                   search_strip<kOp>(values ? values + to : nullptr, indices + to,
                                     in + outer * axis.size * axis.inner + column, axis.size,
                                     axis.inner, std::min(kStrip, axis.inner - column));
                 }
               });
  return {};
}

}  // namespace

Status arg_reduce(ArgOp op, void* values, int64_t* indices, const void* in, ScalarType dtype,
                  const AxisPlan& axis, Stream stream) {
  return for_any(dtype, [&](auto element) {
    using T = decltype(element);
    T* to = static_cast<T*>(values);
    const T* from = static_cast<const T*>(in);
    return op == ArgOp::kMax ? search<ArgOp::kMax>(to, indices, from, axis, stream)
                             : search<ArgOp::kMin>(to, indices, from, axis, stream);
  });
}

TAPER_CPU_END
