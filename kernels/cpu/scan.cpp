#include <algorithm>
#include <cmath>
#include <limits>

#include "taper/kernels/cpu/vec.h"

// Running sums, products, extremes and log-sum-exps. Floats accumulate in double, halves in float,
// integers in their own dtype, which wraps to the same result as int64 would.

TAPER_CPU_BEGIN

namespace {

constexpr int64_t kStrip = 256;
constexpr int64_t kGrain = 16 * 1024;

template <class T>
using Running = std::conditional_t<
    is_floating_point(dtype_of<T>),
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, double>,
    std::conditional_t<
        std::is_same_v<T, bool>, bool,
        std::make_unsigned_t<std::conditional_t<is_integral(dtype_of<T>, false), T, int>>>>;

struct RunningSum {
  template <class A>
  static A start() {
    return A(0);
  }
  template <class A>
  static TAPER_INLINE A next(A acc, A x) {
    return static_cast<A>(acc + x);
  }
};

struct RunningProd {
  template <class A>
  static A start() {
    return A(1);
  }
  template <class A>
  static TAPER_INLINE A next(A acc, A x) {
    if constexpr (std::is_unsigned_v<A> && sizeof(A) < 4) {
      return static_cast<A>(static_cast<uint32_t>(acc) * x);  // uint16 would multiply as int
    } else {
      return static_cast<A>(acc * x);
    }
  }
};

struct RunningLogSumExp {
  template <class A>
  static A start() {
    return -std::numeric_limits<A>::infinity();
  }
  template <class A>
  static TAPER_INLINE A next(A acc, A x) {
    const A top = acc > x || acc != acc ? acc : x;  // NaN if either is
    const A rest = acc > x || acc != acc ? x : acc;
    if (top != top || rest != rest) return acc + x;
    // Equal infinities: their difference is NaN.
    if (top == rest && std::isinf(top)) return top;
    return top + std::log1p(std::exp(rest - top));
  }
};

#if defined(TAPER_VEC_512) || defined(TAPER_VEC_256)
constexpr bool kVectorPrefix = true;
#else
constexpr bool kVectorPrefix = false;
#endif

typedef double Lanes __attribute__((vector_size(32)));
typedef double WideLanes __attribute__((vector_size(64)));

/// Prefix sums of a row of floats in double, eight (or four) at a time: each lane receives the sum
/// of those below it in log2 steps, then the carry.
template <class V>
int64_t prefix_sums(float* out, const float* in, int64_t size, double& carry) {
  constexpr int kLanes = sizeof(V) / sizeof(double);
  typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
  const V zero{};
  V before = zero + carry;
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    Floats x;
    std::memcpy(&x, in + i, sizeof x);
    V v = __builtin_convertvector(x, V);
    V last;
    if constexpr (kLanes == 8) {
      v += __builtin_shufflevector(zero, v, 0, 8, 9, 10, 11, 12, 13, 14);
      v += __builtin_shufflevector(zero, v, 0, 1, 8, 9, 10, 11, 12, 13);
      v += __builtin_shufflevector(zero, v, 0, 1, 2, 3, 8, 9, 10, 11);
      last = __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7);
    } else {
      v += __builtin_shufflevector(zero, v, 0, 4, 5, 6);
      v += __builtin_shufflevector(zero, v, 0, 1, 4, 5);
      last = __builtin_shufflevector(v, v, 3, 3, 3, 3);
    }
    x = __builtin_convertvector(v + before, Floats);
    std::memcpy(out + i, &x, sizeof x);
    before += last;
  }
  carry = before[0];
  return i;
}

template <class Op, class T>
void scan_row(T* out, const T* in, int64_t size) {
  using A = Running<T>;
  A acc = Op::template start<A>();
  int64_t i = 0;
  if constexpr (std::is_same_v<Op, RunningSum> && std::is_same_v<T, float> && kVectorPrefix) {
    i = prefix_sums<std::conditional_t<kVecBytes == 64, WideLanes, Lanes>>(out, in, size, acc);
  }
  for (; i < size; ++i) {
    acc = Op::next(acc, static_cast<A>(in[i]));
    out[i] = static_cast<T>(acc);
  }
}

template <class Op, class T>
void scan_strip(T* out, const T* in, int64_t size, int64_t inner, int64_t columns) {
  using A = Running<T>;
  A acc[kStrip];
  std::fill_n(acc, columns, Op::template start<A>());
  for (int64_t r = 0; r < size; ++r) {
    const T* __restrict__ row = in + r * inner;
    T* __restrict__ to = out + r * inner;
    for (int64_t c = 0; c < columns; ++c) {
      acc[c] = Op::next(acc[c], static_cast<A>(row[c]));
      to[c] = static_cast<T>(acc[c]);
    }
  }
}

/// Values and positions; the later of equals, and any NaN once there has been one.
template <bool kLargest, class T>
void extreme_strip(T* out, int64_t* indices, const T* in, int64_t size, int64_t inner,
                   int64_t columns) {
  using C = std::conditional_t<is_floating_point(dtype_of<T>), acc_t<T>, T>;
  C best[kStrip];
  int64_t position[kStrip];
  for (int64_t c = 0; c < columns; ++c) {
    best[c] = size ? C(in[c]) : C(0);
    position[c] = 0;
  }
  for (int64_t r = 0; r < size; ++r) {
    const int64_t at = r * inner;
    for (int64_t c = 0; c < columns; ++c) {
      const C x = in[at + c];
      const bool wins = (kLargest ? x >= best[c] : x <= best[c]) | (x != x);
      best[c] = wins ? x : best[c];
      position[c] = wins ? r : position[c];
      out[at + c] = static_cast<T>(best[c]);
      indices[at + c] = position[c];
    }
  }
}

/// Calls strip(offset, columns) for every strip of the tensor.
template <class Strip>
void for_strips(const AxisPlan& axis, const Stream& stream, const Strip& strip) {
  if (axis.size == 0) return;
  const int64_t strips = (axis.inner + kStrip - 1) / kStrip;
  const int64_t work = axis.size * std::min(axis.inner, kStrip);
  parallel_for(stream, axis.outer * strips,
               std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t column = unit % strips * kStrip;
                   strip(unit / strips * axis.size * axis.inner + column,
                         std::min(kStrip, axis.inner - column));
                 }
               });
}

template <class Op, class T>
Status scan_with(void* out, const void* in, const AxisPlan& axis, const Stream& stream) {
  for_strips(axis, stream, [&](int64_t offset, int64_t columns) {
    T* to = static_cast<T*>(out) + offset;
    const T* from = static_cast<const T*>(in) + offset;
    if (axis.inner == 1) {
      scan_row<Op>(to, from, axis.size);
    } else {
      scan_strip<Op>(to, from, axis.size, axis.inner, columns);
    }
  });
  return {};
}

template <bool kLargest, class T>
Status extremes(void* out, int64_t* indices, const void* in, const AxisPlan& axis,
                const Stream& stream) {
  for_strips(axis, stream, [&](int64_t offset, int64_t columns) {
    extreme_strip<kLargest>(static_cast<T*>(out) + offset, indices + offset,
                            static_cast<const T*>(in) + offset, axis.size, axis.inner, columns);
  });
  return {};
}

}  // namespace

Status scan(ScanOp op, void* out, int64_t* indices, const void* in, ScalarType dtype,
            const AxisPlan& axis, Stream stream) {
  if (op == ScanOp::kLogSumExp) {
    return for_floating(dtype, [&](auto element) {
      return scan_with<RunningLogSumExp, decltype(element)>(out, in, axis, stream);
    });
  }
  return for_any(dtype, [&](auto element) {
    using T = decltype(element);
    switch (op) {
      case ScanOp::kSum:
        return scan_with<RunningSum, T>(out, in, axis, stream);
      case ScanOp::kProd:
        return scan_with<RunningProd, T>(out, in, axis, stream);
      case ScanOp::kMax:
        return extremes<true, T>(out, indices, in, axis, stream);
      case ScanOp::kMin:
        return extremes<false, T>(out, indices, in, axis, stream);
      default:
        return unsupported();
    }
  });
}

TAPER_CPU_END
