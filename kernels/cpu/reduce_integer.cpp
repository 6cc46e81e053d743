#include <limits>

#include "taper/kernels/cpu/reduce.h"
#include "taper/kernels/cpu/reduce_truth.h"

// Integers and bool: plain loops that the compiler vectorises. Sums and products wrap in 64 bits.

TAPER_CPU_BEGIN

namespace {

struct IntegerSum {
  static constexpr int64_t kIdentity = 0;
  static int64_t join(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct IntegerProd {
  static constexpr int64_t kIdentity = 1;
  static int64_t join(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
struct IntegerSumSquares : IntegerSum {};
struct IntegerMax {
  static constexpr int64_t kIdentity = std::numeric_limits<int64_t>::min();
  template <class I>
  static I join(I a, I b) {
    return a > b ? a : b;
  }
};
struct IntegerMin {
  static constexpr int64_t kIdentity = std::numeric_limits<int64_t>::max();
  template <class I>
  static I join(I a, I b) {
    return a < b ? a : b;
  }
};

template <class Op>
constexpr bool kOrders = std::is_same_v<Op, IntegerMax> || std::is_same_v<Op, IntegerMin>;

template <class Op, class T>
TAPER_INLINE int64_t contribution(T x) {
  const int64_t value = x;
  return std::is_same_v<Op, IntegerSumSquares> ? IntegerProd::join(value, value) : value;
}

template <class Op, class T>
int64_t integer_block(const T* in, int64_t count, double) {
  if constexpr (kOrders<Op> && !std::is_same_v<T, bool>) {
    T best = in[0];  // in T, whose lanes are narrower than those of int64
    for (int64_t i = 1; i < count; ++i) best = Op::join(best, in[i]);
    return best;
  } else {
    int64_t acc = Op::kIdentity;
    for (int64_t i = 0; i < count; ++i) acc = Op::join(acc, contribution<Op>(in[i]));
    return acc;
  }
}

template <class Op, class T>
void integer_columns(int64_t* __restrict__ acc, const T* const* rows, int64_t row_count,
                     int64_t columns, double) {
  for (int64_t c = 0; c < columns; ++c) acc[c] = contribution<Op>(rows[0][c]);
  for (int64_t r = 1; r < row_count; ++r) {
    const T* __restrict__ row = rows[r];
    for (int64_t c = 0; c < columns; ++c) acc[c] = Op::join(acc[c], contribution<Op>(row[c]));
  }
}

template <class Op>
void integer_combine(int64_t* __restrict__ into, const int64_t* __restrict__ from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) into[i] = Op::join(into[i], from[i]);
}

template <class Op, class T, class Out>
Status integer_reduction(const ReduceArgs& args, const Stream& stream) {
  constexpr Reducer<T, int64_t> kOp{integer_block<Op, T>, integer_columns<Op, T>,
                                    integer_combine<Op>,  store_counts<Out>,
                                    Op::kIdentity,        nullptr};
  void* const outs[] = {args.out};
  return run_reduction(kOp, outs, static_cast<const T*>(args.in), args.plan, 0, stream);
}

}  // namespace

template <class T>
Status reduce_dtype(const ReduceArgs& args, const Stream& stream) {
  switch (args.op) {
    case ReduceOp::kSum:
    case ReduceOp::kNanSum:
      return integer_reduction<IntegerSum, T, int64_t>(args, stream);
    case ReduceOp::kProd:
      return integer_reduction<IntegerProd, T, int64_t>(args, stream);
    case ReduceOp::kSumSquares:
      return integer_reduction<IntegerSumSquares, T, int64_t>(args, stream);
    case ReduceOp::kMax:
      return integer_reduction<IntegerMax, T, T>(args, stream);
    case ReduceOp::kMin:
      return integer_reduction<IntegerMin, T, T>(args, stream);
    default:
      return reduce_truth<T>(args, stream);
  }
}

template Status reduce_dtype<int64_t>(const ReduceArgs&, const Stream&);
template Status reduce_dtype<int32_t>(const ReduceArgs&, const Stream&);
template Status reduce_dtype<int16_t>(const ReduceArgs&, const Stream&);
template Status reduce_dtype<int8_t>(const ReduceArgs&, const Stream&);
template Status reduce_dtype<uint8_t>(const ReduceArgs&, const Stream&);
template Status reduce_dtype<bool>(const ReduceArgs&, const Stream&);

TAPER_CPU_END
