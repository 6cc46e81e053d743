#pragma once

#include "taper/kernels/cpu/reduce_driver.h"

// Any, All and CountNonzero: reductions that only ask whether an element is zero. NaN is not.

TAPER_CPU_BEGIN

template <class T>
TAPER_INLINE bool nonzero_value(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return (x.bits & 0x7fff) != 0;
  } else {
    return x != T(0);
  }
}

// A block has at most 4096 elements, so that lanes of 32 bits can count them.
template <class T>
int64_t count_block(const T* in, int64_t count, double) {
  int32_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += nonzero_value(in[i]);
  return found;
}

template <class T>
void count_columns(int64_t* acc, const T* const* rows, int64_t row_count, int64_t columns, double) {
  int32_t found[kReduceStrip] = {};
  for (int64_t r = 0; r < row_count; ++r) {
    for (int64_t c = 0; c < columns; ++c) found[c] += nonzero_value(rows[r][c]);
  }
  for (int64_t c = 0; c < columns; ++c) acc[c] = found[c];
}

template <class T>
int64_t any_block(const T* in, int64_t count, double) {
  return count_block(in, count, 0) != 0;
}
template <class T>
int64_t all_block(const T* in, int64_t count, double) {
  return count_block(in, count, 0) == count;
}
template <class T>
void any_columns(int64_t* acc, const T* const* rows, int64_t row_count, int64_t columns, double) {
  count_columns(acc, rows, row_count, columns, 0);
  for (int64_t c = 0; c < columns; ++c) acc[c] = acc[c] != 0;
}
template <class T>
void all_columns(int64_t* acc, const T* const* rows, int64_t row_count, int64_t columns, double) {
  count_columns(acc, rows, row_count, columns, 0);
  for (int64_t c = 0; c < columns; ++c) acc[c] = acc[c] == row_count;
}

inline void add_counts(int64_t* into, const int64_t* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) into[i] += from[i];
}
inline void or_counts(int64_t* into, const int64_t* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) into[i] |= from[i];
}
inline void and_counts(int64_t* into, const int64_t* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) into[i] &= from[i];
}
template <class Out>
void store_counts(void* const* outs, int64_t offset, int64_t stride, const int64_t* acc,
                  int64_t count, int64_t, double) {
  Out* out = static_cast<Out*>(outs[0]) + offset;
  for (int64_t i = 0; i < count; ++i) out[i * stride] = static_cast<Out>(acc[i]);
}

/// Answers kUnsupported for any other op.
template <class T>
Status reduce_truth(const ReduceArgs& args, const Stream& stream) {
  constexpr Reducer<T, int64_t> kCount{
      count_block<T>, count_columns<T>, add_counts, store_counts<int64_t>, 0, nullptr};
  constexpr Reducer<T, int64_t> kAny{
      any_block<T>, any_columns<T>, or_counts, store_counts<bool>, 0, [](const int64_t& a) {
        return a != 0;
      }};
  constexpr Reducer<T, int64_t> kAll{
      all_block<T>, all_columns<T>, and_counts, store_counts<bool>, 1, [](const int64_t& a) {
        return a == 0;
      }};
  const Reducer<T, int64_t>* op = args.op == ReduceOp::kAny            ? &kAny
                                  : args.op == ReduceOp::kAll          ? &kAll
                                  : args.op == ReduceOp::kCountNonzero ? &kCount
                                                                       : nullptr;
  if (!op) return unsupported();
  void* const outs[] = {args.out};
  return run_reduction(*op, outs, static_cast<const T*>(args.in), args.plan, 0, stream);
}

TAPER_CPU_END
