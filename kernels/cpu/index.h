#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "taper/kernels/cpu/radix_sort.h"
#include "taper/kernels/element_size.h"

// What the kernels that read or write at positions given by index tensors share.

TAPER_CPU_BEGIN

/// Elements worth a thread.
constexpr int64_t kIndexGrain = 8192;

/// Indices [0, size) and, with `negative`, [-size, 0).
struct IndexRange {
  int64_t size;
  bool negative;

  TAPER_INLINE bool has(int64_t index) const {
    return index >= (negative ? -size : 0) && index < size;
  }
};

/// The first index out of range, if any, as an error.
template <class Index>
Status check_indices(const Index* indices, int64_t count, int64_t stride, IndexRange range) {
  constexpr int64_t kBlock = 1024;
  const uint64_t low = range.negative ? static_cast<uint64_t>(-range.size) : 0;
  const uint64_t high = static_cast<uint64_t>(range.size - 1);
  // The sign of either difference tells; it is collected without a branch.
  const auto outside = [=](Index index) {
    const uint64_t i = static_cast<uint64_t>(static_cast<int64_t>(index));
    return (i - low) | (high - i);
  };
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const Index* const block = indices + begin * stride;
    const int64_t n = std::min(kBlock, count - begin);
    uint64_t signs = 0;
    if (stride == 1) {
      for (int64_t i = 0; i < n; ++i) signs |= outside(block[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) signs |= outside(block[i * stride]);
    }
    if (TAPER_LIKELY(signs >> 63 == 0)) continue;
    for (int64_t i = 0; i < n; ++i) {
      if (!range.has(block[i * stride])) return index_out_of_range(block[i * stride], range.size);
    }
  }
  return {};
}

/// A shape walked in runs along its dimension 0, with the offset of each of `count` operands.
template <int kMax>
struct Positions {
  int rank;
  int count;
  int64_t sizes[kMaxRank];
  const int64_t* strides[kMax];  ///< per operand, in elements

  template <int N>
  Positions(const ElementwisePlan<N>& plan, std::initializer_list<const int64_t*> operands)
      : rank(plan.rank), count(0) {
    std::copy_n(plan.sizes, rank, sizes);
    for (const int64_t* operand : operands) strides[count++] = operand;
  }

  int64_t numel() const {
    int64_t product = 1;
    for (int d = 0; d < rank; ++d) product *= sizes[d];
    return product;
  }
  int64_t run_length() const { return rank > 0 ? sizes[0] : 1; }
  int64_t run_stride(int operand) const { return rank > 0 ? strides[operand][0] : 0; }

  /// body(offsets, length) for the pieces of runs that positions [begin, end) are made of.
  template <class Body>
  void for_each_run(int64_t begin, int64_t end, const Body& body) const {
    int64_t at[kMaxRank] = {};
    int64_t offsets[kMax] = {};
    for (int64_t rest = begin, d = 0; d < rank; ++d) {
      at[d] = rest % sizes[d];
      rest /= sizes[d];
      for (int k = 0; k < count; ++k) offsets[k] += at[d] * strides[k][d];
    }
    const int64_t length = run_length();
    while (begin < end) {
      const int64_t n = std::min(length - at[0], end - begin);
      body(static_cast<const int64_t*>(offsets), n);
      begin += n;
      if (begin >= end) return;
      for (int k = 0; k < count; ++k) offsets[k] -= at[0] * run_stride(k);
      at[0] = 0;
      for (int d = 1; d < rank; ++d) {
        for (int k = 0; k < count; ++k) offsets[k] += strides[k][d];
        if (++at[d] < sizes[d]) break;
        for (int k = 0; k < count; ++k) offsets[k] -= sizes[d] * strides[k][d];
        at[d] = 0;
      }
    }
  }
};

/// Walks all positions in pieces on several threads, none of which meets another's target: cut
/// along the outermost dimension that `separate(d)` allows (its positions differ in the target),
/// else in one piece. body(positions, offsets of its first position).
template <int kMax, class Separate, class Body>
void for_separate_pieces(const Stream& stream, const Positions<kMax>& positions,
                         const Separate& separate, const Body& body) {
  int cut = -1;
  const int64_t numel = positions.numel();
  if (numel == 0) return;
  for (int d = positions.rank - 1; d >= 0 && cut < 0; --d) {
    // A run cut shorter than a cache line or two would cost more than a thread brings.
    if (separate(d) && positions.sizes[d] >= (d == 0 ? 64 : 2)) cut = d;
  }
  const int64_t count = cut < 0 ? 1 : positions.sizes[cut];
  const int64_t grain =
      cut < 0 ? 1 : std::max<int64_t>(kIndexGrain / (numel / count), cut == 0 ? 32 : 1);
  parallel_for(stream, count, grain, [&](int64_t begin, int64_t end) {
    Positions<kMax> piece = positions;
    int64_t first[kMax] = {};
    if (cut >= 0) {
      piece.sizes[cut] = end - begin;
      for (int k = 0; k < positions.count; ++k) first[k] = begin * positions.strides[k][cut];
    }
    body(piece, static_cast<const int64_t*>(first));
  });
}

/// A Value as a T.
template <class T>
TAPER_INLINE T number_of(const Value& value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(value.i);
  else
    return static_cast<T>(value.d);
}

/// value = op(value, update) in the type that is accumulated in. Integers wrap; NaN wins in max and
/// min.
template <class T>
TAPER_INLINE T combine(ScatterOp op, T value, T update) {
  if constexpr (std::is_same_v<T, bool>) {
    switch (op) {
      case ScatterOp::kAssign:
        return update;
      case ScatterOp::kAdd:
      case ScatterOp::kMax:
        return value || update;
      case ScatterOp::kMul:
      case ScatterOp::kMin:
        return value && update;
    }
  } else {
    using U = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
    switch (op) {
      case ScatterOp::kAssign:
        return update;
      case ScatterOp::kAdd:
        return static_cast<T>(static_cast<U>(value) + static_cast<U>(update));
      case ScatterOp::kMul:
        return static_cast<T>(static_cast<U>(value) * static_cast<U>(update));
      case ScatterOp::kMax:
        return value > update || value != value ? value : update;
      case ScatterOp::kMin:
        return value < update || value != value ? value : update;
    }
  }
  return value;
}

/// Calls visit(std::integral_constant<ScatterOp, op>), so that loops know their op.
template <class Visit>
Status for_scatter_op(ScatterOp op, const Visit& visit) {
  switch (op) {
#define TAPER_CASE(name) \
  case ScatterOp::name:  \
    return visit(std::integral_constant<ScatterOp, ScatterOp::name>{});
    TAPER_CASE(kAssign)
    TAPER_CASE(kAdd)
    TAPER_CASE(kMul)
    TAPER_CASE(kMax)
    TAPER_CASE(kMin)
#undef TAPER_CASE
  }
  return unsupported();
}

template <class T>
constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The type that updates are combined in: float for halves.
template <class T>
using update_t = std::conditional_t<is_half<T>, float, T>;

/// Sums and products in halves round once, however many updates meet: updates are brought together
/// by target. Each of `count` updates combines `length` elements from src + index to self + key.
/// `updates` has room for twice as many.
template <class T>
void combine_grouped(ScatterOp op, const Stream& stream, T* self, int64_t self_stride, const T* src,
                     int64_t src_stride, float alpha, WideItem* updates, int64_t count,
                     int64_t length) {
  const WideItem* const sorted = radix_sort<8>(updates, updates + count, count);
  const int64_t grain = std::max<int64_t>(1, kIndexGrain / std::max<int64_t>(1, length));
  parallel_for(stream, count, grain, [&](int64_t begin, int64_t end) {
    // A group belongs to the piece in which it starts.
    while (begin > 0 && begin < end && sorted[begin].key() == sorted[begin - 1].key()) ++begin;
    while (begin < end) {
      const int64_t target = static_cast<int64_t>(sorted[begin].key());
      int64_t stop = begin + 1;
      while (stop < count && sorted[stop].key() == sorted[begin].key()) ++stop;
      constexpr int64_t kTile = 512;
      float sums[kTile];
      for (int64_t tile = 0; tile < length; tile += kTile) {
        const int64_t n = std::min(kTile, length - tile);
        T* const to = self + target + tile * self_stride;
        for (int64_t i = 0; i < n; ++i) sums[i] = to[i * self_stride];
        for (int64_t u = begin; u < stop; ++u) {
          const T* const from = src + sorted[u].index() + tile * src_stride;
          if (op == ScatterOp::kAdd) {
            for (int64_t i = 0; i < n; ++i) sums[i] += alpha * from[i * src_stride];
          } else {
            for (int64_t i = 0; i < n; ++i) sums[i] *= from[i * src_stride];
          }
        }
        for (int64_t i = 0; i < n; ++i) to[i * self_stride] = static_cast<T>(sums[i]);
      }
      begin = stop;
    }
  });
}

TAPER_CPU_END
