#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "taper/core/half.h"
#include "taper/core/macros.h"

// The words functors are written in, for one number: a float or double in a CUDA thread, an integer
// anywhere. kernels/cpu/vec.h and vec_math.h have the same words for packets, found by their
// arguments.

namespace taper::kernels::functors {

/// The numbers an op was called with: double for floating dtypes, int64_t for integers and bool.
template <class S>
struct Parameters {
  S p0, p1, p2;
  S alpha;  ///< Add and Sub
};

template <class T>
constexpr bool is_integer = false;
template <>
inline constexpr bool is_integer<bool> = true;
template <>
inline constexpr bool is_integer<uint8_t> = true;
template <>
inline constexpr bool is_integer<int8_t> = true;
template <>
inline constexpr bool is_integer<int16_t> = true;
template <>
inline constexpr bool is_integer<int32_t> = true;
template <>
inline constexpr bool is_integer<int64_t> = true;

template <class T>
constexpr bool is_bool = false;
template <>
inline constexpr bool is_bool<bool> = true;

// The type of an op's parameters when it works on P, a number or a packet.
template <class P>
struct ParameterType {
  using type = double;
};
template <class P>
  requires(is_integer<P>)
struct ParameterType<P> {
  using type = int64_t;
};
template <class P>
using ParametersOf = Parameters<typename ParameterType<P>::type>;

/// Ops that cost tens of cycles an element; they are split over threads earlier.
struct Costly {
  static constexpr bool kCostly = true;
};
template <class Op>
constexpr bool is_costly = requires { Op::kCostly; };

/// Ops that refuse a zero divisor among integers. (They return 0 for it themselves, without a
/// trap.)
struct DividesIntegers {
  static constexpr bool kDividesIntegers = true;
};
template <class Op>
constexpr bool divides_integers = requires { Op::kDividesIntegers; };

// ---- Integers, wrapping -------------------------------------------------------------------------

// Signed overflow is undefined, that of unsigned numbers is not. For bool: or, and, xor.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P add(P a, P b) {
  if constexpr (is_bool<P>)
    return a | b;
  else if constexpr (is_integer<P>)
    return static_cast<P>(uint64_t(a) + uint64_t(b));
  else
    return a + b;
}
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P sub(P a, P b) {
  if constexpr (is_bool<P>)
    return a ^ b;
  else if constexpr (is_integer<P>)
    return static_cast<P>(uint64_t(a) - uint64_t(b));
  else
    return a - b;
}
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P mul(P a, P b) {
  if constexpr (is_bool<P>)
    return a & b;
  else if constexpr (is_integer<P>)
    return static_cast<P>(uint64_t(a) * uint64_t(b));
  else
    return a * b;
}
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P neg(P a) {
  if constexpr (is_integer<P>)
    return static_cast<P>(0 - uint64_t(a));
  else
    return -a;
}

/// A parameter as a P; an integer outside P's range becomes the nearest that is inside.
template <class P, class S>
TAPER_INLINE TAPER_HOST_DEVICE P bound(S value) {
  if constexpr (is_bool<P>) {
    return value != 0;
  } else if constexpr (is_integer<P>) {
    constexpr int kBits = 8 * static_cast<int>(sizeof(P));
    constexpr bool kSigned = P(-1) < P(0);
    constexpr int64_t kHighest = kSigned ? int64_t(~uint64_t{0} >> (65 - kBits)) : 255;
    constexpr int64_t kLowest = kSigned ? -kHighest - 1 : 0;
    return static_cast<P>(value < kLowest ? kLowest : value > kHighest ? kHighest : value);
  } else {
    return P(value);
  }
}

template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P select(bool mask, P yes, P no) {
  return mask ? yes : no;
}

// Integers and bool: no NaN, no infinities, nothing to round.
#define TAPER_INTEGER_IDENTITY(name)           \
  template <class P>                           \
    requires(is_integer<P>)                    \
  TAPER_INLINE TAPER_HOST_DEVICE P name(P x) { \
    return x;                                  \
  }
TAPER_INTEGER_IDENTITY(floor)
TAPER_INTEGER_IDENTITY(ceil)
TAPER_INTEGER_IDENTITY(trunc)
TAPER_INTEGER_IDENTITY(nearbyint)
#undef TAPER_INTEGER_IDENTITY
#define TAPER_INTEGER_ANSWER(name, answer)      \
  template <class P>                            \
    requires(is_integer<P>)                     \
  TAPER_INLINE TAPER_HOST_DEVICE bool name(P) { \
    return answer;                              \
  }
TAPER_INTEGER_ANSWER(isnan, false)
TAPER_INTEGER_ANSWER(isinf, false)
TAPER_INTEGER_ANSWER(isfinite, true)
#undef TAPER_INTEGER_ANSWER
/// x < 0. nvcc warns of that comparison where it never holds.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE auto is_negative(P x) {
  if constexpr (std::is_unsigned_v<P>)
    return false;
  else
    return x < P(0);
}
template <class P>
  requires(is_integer<P>)
TAPER_INLINE TAPER_HOST_DEVICE P abs(P x) {
  return is_negative(x) ? neg(x) : x;
}
#define TAPER_INTEGER_EXTREME(name, sign)           \
  template <class P>                                \
    requires(is_integer<P>)                         \
  TAPER_INLINE TAPER_HOST_DEVICE P name(P a, P b) { \
    return a sign b ? a : b;                        \
  }
TAPER_INTEGER_EXTREME(maximum, >)
TAPER_INTEGER_EXTREME(minimum, <)
TAPER_INTEGER_EXTREME(max, >)
TAPER_INTEGER_EXTREME(min, <)
TAPER_INTEGER_EXTREME(fmax, >)
TAPER_INTEGER_EXTREME(fmin, <)
#undef TAPER_INTEGER_EXTREME

// ---- float and double ---------------------------------------------------------------------------

#define TAPER_REAL_1(name)                                                    \
  TAPER_INLINE TAPER_HOST_DEVICE float name(float x) { return ::name##f(x); } \
  TAPER_INLINE TAPER_HOST_DEVICE double name(double x) { return ::name(x); }
#define TAPER_REAL_2(name)                                                                \
  TAPER_INLINE TAPER_HOST_DEVICE float name(float x, float y) { return ::name##f(x, y); } \
  TAPER_INLINE TAPER_HOST_DEVICE double name(double x, double y) { return ::name(x, y); }
TAPER_REAL_1(floor)
TAPER_REAL_1(ceil)
TAPER_REAL_1(trunc)
TAPER_REAL_1(nearbyint)
TAPER_REAL_1(sqrt)
TAPER_REAL_1(exp)
TAPER_REAL_1(exp2)
TAPER_REAL_1(expm1)
TAPER_REAL_1(log)
TAPER_REAL_1(log2)
TAPER_REAL_1(log10)
TAPER_REAL_1(log1p)
TAPER_REAL_1(sin)
TAPER_REAL_1(cos)
TAPER_REAL_1(tan)
TAPER_REAL_1(asin)
TAPER_REAL_1(acos)
TAPER_REAL_1(atan)
TAPER_REAL_1(sinh)
TAPER_REAL_1(cosh)
TAPER_REAL_1(tanh)
TAPER_REAL_1(asinh)
TAPER_REAL_1(acosh)
TAPER_REAL_1(atanh)
TAPER_REAL_1(erf)
TAPER_REAL_1(erfc)
TAPER_REAL_2(pow)
TAPER_REAL_2(fmod)
TAPER_REAL_2(atan2)
TAPER_REAL_2(hypot)
TAPER_REAL_2(copysign)
#undef TAPER_REAL_1
#undef TAPER_REAL_2

#if defined(__GLIBC__) && !defined(__CUDA_ARCH__)
// glibc's lgamma writes the global `signgam`: a race.
TAPER_INLINE float lgamma(float x) {
  int sign;
  return ::lgammaf_r(x, &sign);
}
TAPER_INLINE double lgamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}
#else
TAPER_INLINE TAPER_HOST_DEVICE float lgamma(float x) { return ::lgammaf(x); }
TAPER_INLINE TAPER_HOST_DEVICE double lgamma(double x) { return ::lgamma(x); }
#endif

#define TAPER_REAL_RULES(T)                                                                      \
  TAPER_INLINE TAPER_HOST_DEVICE bool isnan(T x) { return x != x; }                              \
  TAPER_INLINE TAPER_HOST_DEVICE T abs(T x) { return copysign(x, T(0)); }                        \
  TAPER_INLINE TAPER_HOST_DEVICE bool isinf(T x) { return abs(x) == T(__builtin_huge_val()); }   \
  TAPER_INLINE TAPER_HOST_DEVICE bool isfinite(T x) { return abs(x) < T(__builtin_huge_val()); } \
  /* b when either is NaN, as the packets' own. */                                               \
  TAPER_INLINE TAPER_HOST_DEVICE T max(T a, T b) { return a > b ? a : b; }                       \
  TAPER_INLINE TAPER_HOST_DEVICE T min(T a, T b) { return a < b ? a : b; }                       \
  /* NaN when either is NaN. */                                                                  \
  TAPER_INLINE TAPER_HOST_DEVICE T maximum(T a, T b) { return a != a ? a : max(a, b); }          \
  TAPER_INLINE TAPER_HOST_DEVICE T minimum(T a, T b) { return a != a ? a : min(a, b); }          \
  /* The number when the other is NaN. */                                                        \
  TAPER_INLINE TAPER_HOST_DEVICE T fmax(T a, T b) { return b != b ? a : max(a, b); }             \
  TAPER_INLINE TAPER_HOST_DEVICE T fmin(T a, T b) { return b != b ? a : min(a, b); }
TAPER_REAL_RULES(float)
TAPER_REAL_RULES(double)
#undef TAPER_REAL_RULES

/// Calls an op with its parameters if it takes any.
template <class Op, class P>
TAPER_INLINE TAPER_HOST_DEVICE auto apply(const ParametersOf<P>& p, P x) {
  if constexpr (requires { Op()(x, p); })
    return Op()(x, p);
  else
    return Op()(x);
}
template <class Op, class P>
TAPER_INLINE TAPER_HOST_DEVICE auto apply(const ParametersOf<P>& p, P x, P y) {
  if constexpr (requires { Op()(x, y, p); })
    return Op()(x, y, p);
  else
    return Op()(x, y);
}
template <class Op, class P>
TAPER_INLINE TAPER_HOST_DEVICE auto apply(const ParametersOf<P>& p, P x, P y, P z) {
  if constexpr (requires { Op()(x, y, z, p); })
    return Op()(x, y, z, p);
  else
    return Op()(x, y, z);
}

}  // namespace taper::kernels::functors
