#pragma once

#include <cmath>
#include <limits>

#include "taper/kernels/cpu/reduce.h"
#include "taper/kernels/cpu/reduce_truth.h"
#include "taper/kernels/cpu/vec.h"

// Floating reductions. An op says what an element contributes (`map`), how two contributions become
// one
// (`fold`), how a register becomes a number (`lanes`) and what the result is (`result`).

TAPER_CPU_BEGIN

struct AddFold {
  static constexpr double kIdentity = 0;
  template <class V>
  static TAPER_INLINE V fold(V a, V b) {
    return a + b;
  }
  template <class C>
  static TAPER_INLINE C lanes(Vec<C> v) {
    return reduce_add(v);
  }
};

struct FloatSum : AddFold {
  template <class V>
  static TAPER_INLINE V map(V x, V) {
    return x;
  }
  template <class C>
  static TAPER_INLINE C result(C acc, int64_t, double) {
    return acc;
  }
};

struct FloatMean : FloatSum {
  template <class C>
  static TAPER_INLINE C result(C acc, int64_t reduced, double) {
    return acc / static_cast<C>(reduced);
  }
};

struct FloatNanSum : FloatSum {
  template <class V>
  static TAPER_INLINE V map(V x, V) {
    return select(isnan(x), V(0), x);
  }
};

struct FloatSumSquares : FloatSum {
  template <class V>
  static TAPER_INLINE V map(V x, V) {
    return x * x;
  }
};

struct FloatNormL1 : FloatSum {
  template <class V>
  static TAPER_INLINE V map(V x, V) {
    return abs(x);
  }
};

struct FloatNormL2 : FloatSumSquares {
  template <class C>
  static TAPER_INLINE C result(C acc, int64_t, double) {
    return std::sqrt(acc);
  }
};

/// p other than 0, 1, 2 and infinity.
struct FloatNormP : AddFold {
  template <class V>
  static TAPER_INLINE V map(V x, V p) {
    return map_lanes(abs(x), p, [](auto a, auto b) { return std::pow(a, b); });
  }
  template <class C>
  static TAPER_INLINE C result(C acc, int64_t, double p) {
    return std::pow(acc, static_cast<C>(1 / p));
  }
};

/// The 0-norm: how many are not zero.
struct FloatNorm0 : FloatSum {
  template <class V>
  static TAPER_INLINE V map(V x, V) {
    return select(x != V(0), V(1), V(0));
  }
};

struct FloatProd : FloatSum {
  static constexpr double kIdentity = 1;
  template <class V>
  static TAPER_INLINE V fold(V a, V b) {
    return a * b;
  }
  template <class C>
  static TAPER_INLINE C lanes(Vec<C> v) {
    return detail::fold<C, Vec<C>::kSize>(v.raw, [](auto a, auto b) { return a * b; });
  }
};

struct FloatMax : FloatSum {
  static constexpr double kIdentity = -std::numeric_limits<double>::infinity();
  template <class C>
  static TAPER_INLINE Vec<C> fold(Vec<C> a, Vec<C> b) {
    return maximum(a, b);
  }
  template <class C>
    requires std::is_floating_point_v<C>
  static TAPER_INLINE C fold(C a, C b) {
    return a > b || a != a ? a : b;
  }
  template <class C>
  static TAPER_INLINE C lanes(Vec<C> v) {
    return reduce_max(v);
  }
};

struct FloatMin : FloatSum {
  static constexpr double kIdentity = std::numeric_limits<double>::infinity();
  template <class C>
  static TAPER_INLINE Vec<C> fold(Vec<C> a, Vec<C> b) {
    return minimum(a, b);
  }
  template <class C>
    requires std::is_floating_point_v<C>
  static TAPER_INLINE C fold(C a, C b) {
    return a < b || a != a ? a : b;
  }
  template <class C>
  static TAPER_INLINE C lanes(Vec<C> v) {
    return reduce_min(v);
  }
};

/// Norms are never negative: the norm of nothing is 0, not -inf.
struct FloatNormInf : FloatMax {
  static constexpr double kIdentity = 0;
  template <class V>
  static TAPER_INLINE V map(V x, V) {
    return abs(x);
  }
};

struct FloatNormNegInf : FloatMin {
  template <class V>
  static TAPER_INLINE V map(V x, V) {
    return abs(x);
  }
  template <class C>
  static TAPER_INLINE C result(C acc, int64_t reduced, double) {
    return reduced ? acc : C(0);
  }
};

/// The first `count` lanes of v, the op's identity in the others.
template <class Op, class V>
TAPER_INLINE V keep_lanes(V v, int64_t count) {
  return select(iota<typename V::Scalar>() < V(static_cast<double>(count)), v, V(Op::kIdentity));
}

template <class Op, class T>
acc_t<T> float_block(const T* in, int64_t count, double p) {
  using V = packet_t<T>;
  constexpr int64_t kLanes = V::kSize;
  const V power(p);
  // Eight sums side by side hide the latency of the addition, and keep each of them short.
  V acc[8];
  int64_t i = 0;
  if (count >= 8 * kLanes) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) acc[k] = Op::map(load(in + k * kLanes), power);
    for (i = 8 * kLanes; i + 8 * kLanes <= count; i += 8 * kLanes) {
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) {
        acc[k] = Op::fold(acc[k], Op::map(load(in + i + k * kLanes), power));
      }
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) acc[k] = Op::fold(acc[k], acc[k + 4]);
    acc[0] = Op::fold(Op::fold(acc[0], acc[2]), Op::fold(acc[1], acc[3]));
  } else {
    acc[0] = V(Op::kIdentity);
  }
  for (; i + kLanes <= count; i += kLanes) {
    acc[0] = Op::fold(acc[0], Op::map(load(in + i), power));
  }
  if (i < count) {
    const V rest = Op::map(load(in + i, count - i), power);
    acc[0] = Op::fold(acc[0], keep_lanes<Op>(rest, count - i));
  }
  return Op::lanes(acc[0]);
}

template <class Op, class T, int kRows, bool kFirst>
TAPER_INLINE void add_rows(acc_t<T>* acc, const T* const* rows, int64_t columns,
                           packet_t<T> power) {
  using V = packet_t<T>;
  const auto step = [&](int64_t c, auto load_row, V earlier) {
    V sum[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sum[r] = Op::map(load_row(rows[r] + c), power);
#pragma GCC unroll 3
    for (int half = kRows / 2; half > 0; half /= 2) {
#pragma GCC unroll 4
      for (int r = 0; r < half; ++r) sum[r] = Op::fold(sum[r], sum[r + half]);
    }
    return kFirst ? sum[0] : Op::fold(earlier, sum[0]);
  };
  int64_t c = 0;
  for (; c + V::kSize <= columns; c += V::kSize) {
    const auto whole = [](const T* from) { return load(from); };
    step(c, whole, kFirst ? V(0) : V::load(acc + c)).store(acc + c);
  }
  if (const int64_t rest = columns - c; rest > 0) {
    const auto part = [&](const T* from) { return load(from, rest); };
    step(c, part, kFirst ? V(0) : V::load(acc + c, rest)).store(acc + c, rest);
  }
}

// Eight rows at a time: one load and store of the accumulators for eight loads of data.
template <class Op, class T>
void float_columns(acc_t<T>* acc, const T* const* rows, int64_t row_count, int64_t columns,
                   double p) {
  const packet_t<T> power(p);
  int64_t r = 0;
  if (row_count >= 8) {
    add_rows<Op, T, 8, true>(acc, rows, columns, power);
    r = 8;
  } else {
    add_rows<Op, T, 1, true>(acc, rows, columns, power);
    r = 1;
  }
  for (; r + 8 <= row_count; r += 8) add_rows<Op, T, 8, false>(acc, rows + r, columns, power);
  for (; r < row_count; ++r) add_rows<Op, T, 1, false>(acc, rows + r, columns, power);
}

template <class Op, class A>
void float_combine(A* __restrict__ into, const A* __restrict__ from, int64_t count) {
  using V = Vec<A>;
  int64_t i = 0;
  for (; i + V::kSize <= count; i += V::kSize) {
    Op::fold(V::load(into + i), V::load(from + i)).store(into + i);
  }
  for (; i < count; ++i) into[i] = Op::fold(into[i], from[i]);
}

template <class Op, class T>
void float_finish(void* const* outs, int64_t offset, int64_t stride, const acc_t<T>* acc,
                  int64_t count, int64_t reduced, double p) {
  T* out = static_cast<T*>(outs[0]) + offset;
  for (int64_t i = 0; i < count; ++i) out[i * stride] = T(Op::result(acc[i], reduced, p));
}

template <class Op, class T>
inline constexpr Reducer<T, acc_t<T>> kFloatReducer{
    float_block<Op, T>,  float_columns<Op, T>,    float_combine<Op, acc_t<T>>,
    float_finish<Op, T>, acc_t<T>(Op::kIdentity), nullptr};

template <class T>
const Reducer<T, acc_t<T>>* float_reducer(ReduceOp op, double p) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case ReduceOp::kSum:
      return &kFloatReducer<FloatSum, T>;
    case ReduceOp::kMean:
      return &kFloatReducer<FloatMean, T>;
    case ReduceOp::kProd:
      return &kFloatReducer<FloatProd, T>;
    case ReduceOp::kMax:
      return &kFloatReducer<FloatMax, T>;
    case ReduceOp::kMin:
      return &kFloatReducer<FloatMin, T>;
    case ReduceOp::kNanSum:
      return &kFloatReducer<FloatNanSum, T>;
    case ReduceOp::kSumSquares:
      return &kFloatReducer<FloatSumSquares, T>;
    case ReduceOp::kNormL1:
      return &kFloatReducer<FloatNormL1, T>;
    case ReduceOp::kNormL2:
      return &kFloatReducer<FloatNormL2, T>;
    case ReduceOp::kNormInf:
      return &kFloatReducer<FloatNormInf, T>;
    case ReduceOp::kNormNegInf:
      return &kFloatReducer<FloatNormNegInf, T>;
    case ReduceOp::kNormP:
      if (p == 0) return &kFloatReducer<FloatNorm0, T>;
      if (p == 1) return &kFloatReducer<FloatNormL1, T>;
      if (p == 2) return &kFloatReducer<FloatNormL2, T>;
      if (p == kInfinity) return &kFloatReducer<FloatNormInf, T>;
      if (p == -kInfinity) return &kFloatReducer<FloatNormNegInf, T>;
      return &kFloatReducer<FloatNormP, T>;
    default:
      return nullptr;
  }
}

template <class T>
Status reduce_dtype(const ReduceArgs& args, const Stream& stream) {
  const auto* op = float_reducer<T>(args.op, args.p.d);
  if (!op) return reduce_truth<T>(args, stream);
  if (args.out_dtype != args.dtype) return unsupported();
  void* const outs[] = {args.out};
  return run_reduction(*op, outs, static_cast<const T*>(args.in), args.plan, args.p.d, stream);
}

TAPER_CPU_END
