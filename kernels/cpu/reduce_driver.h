#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "taper/kernels/cpu/cpu.h"
#include "taper/kernels/plan_order.h"

// How a reduction walks over its input, the same for every op. The plan alone decides the shape of
// the tree of partial results, so that the outcome does not depend on the number of threads.

TAPER_CPU_BEGIN

constexpr int64_t kReduceBlock = 4096;  // elements summed by one set of registers
constexpr int64_t kReduceRows = 64;     // rows added one after the other, column by column
constexpr int64_t kReduceStrip = 512;   // columns reduced together
constexpr int64_t kReduceChunk =
    64 * 1024;  // elements that one task takes at most, where it can be helped
constexpr int64_t kReduceGrain = 32 * 1024;  // elements worth waking a thread for
constexpr int64_t kShortestDirectRun = 256;  // shorter runs are gathered first

/// One op on one dtype: T is what is read, A what is accumulated.
template <class T, class A>
struct Reducer {
  /// At most kReduceBlock elements, side by side.
  A (*block)(const T* in, int64_t count, double p);
  /// acc[c] = all rows[r][c]; at most kReduceRows rows and kReduceStrip columns.
  void (*columns)(A* acc, const T* const* rows, int64_t row_count, int64_t column_count, double p);
  /// into[i] = into[i] with from[i]; what `into` holds came earlier.
  void (*combine)(A* into, const A* from, int64_t count);
  /// Result i goes to element offset + i * stride; `reduced` elements went into each.
  void (*finish)(void* const* outs, int64_t offset, int64_t stride, const A* acc, int64_t count,
                 int64_t reduced, double p);
  A identity;
  bool (*decided)(const A& acc);  ///< true: nothing can change it any more; null: never
};

/// A position in a strided shape (index 0 innermost) and its offsets in N operands.
template <int N>
class Walker {
 public:
  Walker(int rank, const int64_t* sizes, const int64_t* const (&strides)[N], int64_t start)
      : rank_(rank), sizes_(sizes) {
    for (int k = 0; k < N; ++k) {
      strides_[k] = strides[k];
      offset[k] = 0;
    }
    for (int d = 0; d < rank; ++d) {
      index_[d] = start ? start % sizes[d] : 0;
      start = start ? start / sizes[d] : 0;
      for (int k = 0; k < N; ++k) offset[k] += index_[d] * strides[k][d];
    }
  }

  /// Positions left in the innermost dimension.
  int64_t run() const { return rank_ == 0 ? 1 : sizes_[0] - index_[0]; }

  /// Moves on by count <= run().
  void advance(int64_t count) {
    if (rank_ == 0) return;
    index_[0] += count;
    for (int k = 0; k < N; ++k) offset[k] += count * strides_[k][0];
    for (int d = 0; index_[d] == sizes_[d];) {
      for (int k = 0; k < N; ++k) offset[k] -= index_[d] * strides_[k][d];
      index_[d] = 0;
      if (++d == rank_) return;
      ++index_[d];
      for (int k = 0; k < N; ++k) offset[k] += strides_[k][d];
    }
  }

  int64_t offset[N];

 private:
  int rank_;
  const int64_t* sizes_;
  const int64_t* strides_[N];
  int64_t index_[kMaxRank];
};

/// Combines values pairwise as they come, like a binary counter: the error grows with log(count).
template <class T, class A>
class Cascade {
 public:
  explicit Cascade(const Reducer<T, A>& op) : op_(op) {}

  void push(A value) {
    int level = 0;
    for (uint64_t n = count_++; n & 1; n >>= 1, ++level) {
      op_.combine(&levels_[level], &value, 1);
      value = levels_[level];
    }
    levels_[level] = value;
  }

  A total() const {
    if (count_ == 0) return op_.identity;
    int level = __builtin_ctzll(count_);
    A sum = levels_[level];
    for (uint64_t n = count_ >> level >> 1; n != 0; n >>= 1) {
      ++level;
      if (n & 1) {
        A earlier = levels_[level];
        op_.combine(&earlier, &sum, 1);
        sum = earlier;
      }
    }
    return sum;
  }

 private:
  const Reducer<T, A>& op_;
  uint64_t count_ = 0;
  A levels_[48];
};

/// partials[i * stride] for i in [0, count), combined pairwise into the first; each has `width`
/// values.
template <class T, class A>
void combine_partials(const Reducer<T, A>& op, A* partials, int64_t count, int64_t width) {
  for (int64_t step = 1; step < count; step *= 2) {
    for (int64_t i = 0; i + step < count; i += 2 * step) {
      op.combine(partials + i * width, partials + (i + step) * width, width);
    }
  }
}

/// Reduced positions [begin, end) of one result whose first element is at `in`.
template <class T, class A>
A reduce_range(const Reducer<T, A>& op, const T* in, const ReducePlan& plan, int64_t begin,
               int64_t end, double p) {
  const int64_t stride = plan.reduced_rank ? plan.in_reduced_strides[0] : 1;
  const bool direct =
      stride == 1 && (plan.reduced_rank <= 1 || plan.reduced_sizes[0] >= kShortestDirectRun);
  if (direct && plan.reduced_rank <= 1 && end - begin <= kReduceBlock) {
    return op.block(in + begin, end - begin, p);
  }
  Walker<1> walk(plan.reduced_rank, plan.reduced_sizes, {plan.in_reduced_strides}, begin);
  Cascade<T, A> total(op);
  T gathered[1024];
  while (begin < end) {
    A value;
    if (direct) {
      const int64_t count = std::min({walk.run(), kReduceBlock, end - begin});
      value = op.block(in + walk.offset[0], count, p);
      walk.advance(count);
      begin += count;
    } else {
      int64_t filled = 0;
      while (filled < 1024 && begin < end) {
        const int64_t count = std::min({walk.run(), 1024 - filled, end - begin});
        const T* from = in + walk.offset[0];
        if (stride == 1) {
          std::copy_n(from, count, gathered + filled);
        } else {
          for (int64_t i = 0; i < count; ++i) gathered[filled + i] = from[i * stride];
        }
        walk.advance(count);
        filled += count;
        begin += count;
      }
      value = op.block(gathered, filled, p);
    }
    if (op.decided && op.decided(value)) return value;
    total.push(value);
  }
  return total.total();
}

/// Each result by itself: rows side by side in memory, everything into one, and whatever is
/// neither.
template <class T, class A>
Status reduce_rows(const Reducer<T, A>& op, void* const* outs, const T* in, const ReducePlan& plan,
                   double p, const Stream& stream) {
  const int64_t reduced = plan.reduced_numel;
  const int64_t chunks = (reduced + kReduceChunk - 1) / kReduceChunk;
  const int64_t* const strides[2] = {plan.in_kept_strides, plan.out_strides};
  if (chunks <= 1) {
    const int64_t grain = std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(1, reduced));
    parallel_for(stream, plan.kept_numel, grain, [&](int64_t begin, int64_t end) {
      Walker<2> walk(plan.kept_rank, plan.kept_sizes, strides, begin);
      const int64_t in_stride = plan.kept_rank ? plan.in_kept_strides[0] : 0;
      const int64_t out_stride = plan.kept_rank ? plan.out_strides[0] : 0;
      A acc[64];
      while (begin < end) {
        const int64_t count = std::min({walk.run(), end - begin, int64_t{64}});
        const T* row = in + walk.offset[0];
        for (int64_t i = 0; i < count; ++i) {
          acc[i] =
              reduced ? reduce_range(op, row + i * in_stride, plan, 0, reduced, p) : op.identity;
        }
        op.finish(outs, walk.offset[1], out_stride, acc, count, reduced, p);
        walk.advance(count);
        begin += count;
      }
    });
    return {};
  }
  // Long rows: each is cut into chunks, so that few of them still occupy every thread.
  Scratch<A> partials(stream, plan.kept_numel * chunks);
  if (!partials.get()) return partials.failure();
  bool decided = false;  // a single result that no other chunk can change
  parallel_for(stream, plan.kept_numel * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % chunks * kReduceChunk;
      Walker<2> walk(plan.kept_rank, plan.kept_sizes, strides, unit / chunks);
      if (__atomic_load_n(&decided, __ATOMIC_RELAXED)) {
        partials[unit] = op.identity;
        continue;
      }
      partials[unit] = reduce_range(op, in + walk.offset[0], plan, first,
                                    std::min(first + kReduceChunk, reduced), p);
      if (op.decided && plan.kept_numel == 1 && op.decided(partials[unit])) {
        __atomic_store_n(&decided, true, __ATOMIC_RELAXED);
      }
    }
  });
  Walker<2> walk(plan.kept_rank, plan.kept_sizes, strides, 0);
  for (int64_t row = 0; row < plan.kept_numel; ++row) {
    A* acc = partials.get() + row * chunks;
    combine_partials(op, acc, chunks, 1);
    op.finish(outs, walk.offset[1], 0, acc, 1, reduced, p);
    walk.advance(1);
  }
  return {};
}

/// Rows [begin, end) of a strip of columns into acc. `levels` has room for column_levels(end -
/// begin) times `columns`. The strip's rows are gathered into `gathered` unless columns lie side by
/// side.
template <class T, class A>
void reduce_strip(const Reducer<T, A>& op, A* acc, A* levels, T* gathered, const T* in,
                  const ReducePlan& plan, int64_t begin, int64_t end, int64_t columns, double p) {
  const int64_t stride = plan.in_kept_strides[0];
  Walker<1> walk(plan.reduced_rank, plan.reduced_sizes, {plan.in_reduced_strides}, begin);
  const T* rows[kReduceRows];
  for (uint64_t block = 0; begin < end; ++block) {
    int64_t count = 0;
    for (; count < kReduceRows && begin < end; ++count, ++begin) {
      const T* row = in + walk.offset[0];
      rows[count] = row;
      if (stride != 1) {
        T* packed = gathered + count * columns;
        for (int64_t c = 0; c < columns; ++c) packed[c] = row[c * stride];
        rows[count] = packed;
      }
      walk.advance(1);
    }
    op.columns(acc, rows, count, columns, p);
    if (begin == end && block == 0) return;
    // As in Cascade, on whole rows of accumulators.
    int level = 0;
    for (uint64_t n = block; n & 1; n >>= 1, ++level) {
      A* earlier = levels + level * columns;
      op.combine(earlier, acc, columns);
      std::copy_n(earlier, columns, acc);
    }
    if (begin < end) {
      std::copy_n(acc, columns, levels + level * columns);
    } else {
      for (uint64_t n = (block + 1) >> (level + 1); n != 0; n >>= 1) {
        ++level;
        if (n & 1) {
          A* earlier = levels + level * columns;
          op.combine(earlier, acc, columns);
          std::copy_n(earlier, columns, acc);
        }
      }
    }
  }
}

inline int64_t column_levels(int64_t rows) {
  return 64 - __builtin_clzll(static_cast<uint64_t>((rows - 1) / kReduceRows) | 1);
}

/// Neighbouring results together: rows of the input are added onto a row of accumulators.
template <class T, class A>
Status reduce_columns(const Reducer<T, A>& op, void* const* outs, const T* in,
                      const ReducePlan& plan, double p, const Stream& stream) {
  const int64_t width = plan.kept_sizes[0], rows = plan.reduced_numel;
  const int64_t outer = plan.kept_numel / width;
  const int64_t strip = std::min(width, kReduceStrip);
  const int64_t strips = (width + strip - 1) / strip;
  // Rows are cut too where the results alone give too few tasks.
  const int64_t chunk_rows =
      outer * strips >= 64 ? rows : std::min(rows, std::max(kReduceRows, kReduceChunk / strip));
  const int64_t chunks = (rows + chunk_rows - 1) / chunk_rows;
  std::optional<Scratch<A>> partials;
  if (chunks > 1) {
    partials.emplace(stream, outer * chunks * width);
    if (!partials->get()) return partials->failure();
  }

  const int64_t* const strides[2] = {plan.in_kept_strides + 1, plan.out_strides + 1};
  const int64_t levels = column_levels(chunk_rows);
  const bool gather = plan.in_kept_strides[0] != 1;
  const int64_t grain = std::max<int64_t>(1, kReduceGrain / (strip * chunk_rows));
  bool lacking = false;  // scratch memory; written by any thread
  parallel_for(stream, outer * chunks * strips, grain, [&](int64_t begin, int64_t end) {
    // The accumulators of the strip, then the levels of the cascade; most fit on the stack.
    constexpr int64_t kStackBytes = 16 * 1024;
    alignas(64) unsigned char stack[kStackBytes];
    const int64_t needed = (levels + 1) * strip;
    const bool on_stack = needed * static_cast<int64_t>(sizeof(A)) <= kStackBytes;
    std::optional<Scratch<A>> more;
    std::optional<Scratch<T>> gathered;
    if (!on_stack) more.emplace(stream, needed);
    if (gather) gathered.emplace(stream, kReduceRows * strip);
    A* acc = more ? more->get() : reinterpret_cast<A*>(stack);
    if (!acc || (gather && !gathered->get())) {
      __atomic_store_n(&lacking, true, __ATOMIC_RELAXED);
      return;
    }
    int64_t at = begin / strips / chunks;
    Walker<2> walk(plan.kept_rank - 1, plan.kept_sizes + 1, strides, at);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t column = unit % strips * strip;
      const int64_t columns = std::min(strip, width - column);
      const int64_t chunk = unit / strips % chunks, position = unit / strips / chunks;
      for (; at < position; ++at) walk.advance(1);
      const int64_t first = chunk * chunk_rows;
      reduce_strip(op, acc, acc + strip, gathered ? gathered->get() : nullptr,
                   in + walk.offset[0] + column * plan.in_kept_strides[0], plan, first,
                   std::min(first + chunk_rows, rows), columns, p);
      if (chunks == 1) {
        op.finish(outs, walk.offset[1] + column * plan.out_strides[0], plan.out_strides[0], acc,
                  columns, rows, p);
      } else {
        std::copy_n(acc, columns, partials->get() + (position * chunks + chunk) * width + column);
      }
    }
  });
  if (lacking) {
    return {Code::kOutOfMemory, (levels + 1) * strip * static_cast<int64_t>(sizeof(A)), 0, nullptr};
  }
  if (chunks == 1) return {};
  Walker<2> walk(plan.kept_rank - 1, plan.kept_sizes + 1, strides, 0);
  for (int64_t position = 0; position < outer; ++position) {
    A* acc = partials->get() + position * chunks * width;
    combine_partials(op, acc, chunks, width);
    op.finish(outs, walk.offset[1], plan.out_strides[0], acc, width, rows, p);
    walk.advance(1);
  }
  return {};
}

// Which way pays:
//   everything into one  a single result over dense memory; blocks, and chunks of blocks in
//   parallel rows                 reduced elements lie closer together than results do columns
//   results lie closer together, and there are enough of them to fill registers; also
//                        many rows that are too short to fill one
//   gathered             any of these with strides: the same, after a copy to a buffer that stays
//   in L1
template <class T, class A>
Status run_reduction(const Reducer<T, A>& op, void* const* outs, const T* in,
                     const ReducePlan& given, double p, const Stream& stream) {
  if (given.kept_numel == 1 && given.reduced_rank == 1 && given.in_reduced_strides[0] == 1 &&
      given.reduced_numel <= kReduceBlock && given.reduced_numel > 0) {
    const A acc = op.block(in, given.reduced_numel, p);
    op.finish(outs, 0, 0, &acc, 1, given.reduced_numel, p);
    return {};
  }
  if (given.kept_numel == 0) return {};
  const bool simple = given.kept_rank <= 1 && given.reduced_rank <= 1;
  ReducePlan sorted;
  if (!simple) sorted = in_memory_order(given);
  const ReducePlan& plan = simple ? given : sorted;
  const bool close = plan.kept_rank > 0 && plan.reduced_rank > 0 && plan.reduced_numel > 1 &&
                     plan.kept_sizes[0] >= 8 &&
                     plan.in_kept_strides[0] < plan.in_reduced_strides[0];
  const bool short_rows = plan.kept_rank > 0 && plan.kept_sizes[0] >= 64 &&
                          plan.reduced_numel > 0 && plan.reduced_numel < 16;
  const bool columns = close || short_rows;
  return columns ? reduce_columns(op, outs, in, plan, p, stream)
                 : reduce_rows(op, outs, in, plan, p, stream);
}

TAPER_CPU_END
