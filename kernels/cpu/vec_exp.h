#pragma once

#include "taper/kernels/cpu/vec.h"

// The exponential, which half of the activations are made of. Included by vec.h.

TAPER_CPU_BEGIN

namespace detail {

// e^r for |r| <= ln(2) / 2. In float Cephes's polynomial, in double Taylor to r^13 (below 1e-17).
TAPER_INLINE Vec<float> exp_near_zero(Vec<float> r) {
  using V = Vec<float>;
  V p = fma(r, V(1.9875691500e-4f), V(1.3981999507e-3f));
  p = fma(p, r, V(8.3334519073e-3f));
  p = fma(p, r, V(4.1665795894e-2f));
  p = fma(p, r, V(1.6666665459e-1f));
  p = fma(p, r, V(5.0000001201e-1f));
  return fma(p, r * r, r) + V(1.f);
}
TAPER_INLINE Vec<double> exp_near_zero(Vec<double> r) {
  using V = Vec<double>;
  V p = fma(r, V(1. / 6227020800), V(1. / 479001600));
  p = fma(p, r, V(1. / 39916800));
  p = fma(p, r, V(1. / 3628800));
  p = fma(p, r, V(1. / 362880));
  p = fma(p, r, V(1. / 40320));
  p = fma(p, r, V(1. / 5040));
  p = fma(p, r, V(1. / 720));
  p = fma(p, r, V(1. / 120));
  p = fma(p, r, V(1. / 24));
  p = fma(p, r, V(1. / 6));
  p = fma(p, r, V(0.5));
  return fma(p, r * r, r) + V(1.);
}

template <class T>
struct ExpNumbers;
template <>
struct ExpNumbers<float> {
  // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
  static constexpr float kMagic = 12582912.f, kLog2E = 1.44269504088896341f;
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kLowest = -104.f, kHighest = 89.f, kNormal = 86.5f;
  static constexpr int kBias = 127, kFractionBits = 23;
};
template <>
struct ExpNumbers<double> {
  static constexpr double kMagic = 6755399441055744., kLog2E = 1.44269504088896340736;
  static constexpr double kLn2High = 6.93147180369123816490e-1;
  static constexpr double kLn2Low = 1.90821492927058770002e-10;
  static constexpr double kLowest = -746., kHighest = 710., kNormal = 707.;
  static constexpr int kBias = 1023, kFractionBits = 52;
};

// x = n ln(2) + r; n comes as a number and, in the low bits of `shifted`, as an integer.
template <class T>
TAPER_INLINE Vec<T> reduce_exp(Vec<T> x, Vec<T>& shifted, Vec<T>& n) {
  using V = Vec<T>;
  using K = ExpNumbers<T>;
  shifted = fma(x, V(K::kLog2E), V(K::kMagic));
  n = shifted - V(K::kMagic);
  return fma(n, V(-K::kLn2Low), fma(n, V(-K::kLn2High), x));
}

template <class T>
TAPER_INLINE Vec<T> limit_exp(Vec<T> x) {  // NaN passes: it is the second operand
  return min(Vec<T>(ExpNumbers<T>::kHighest), max(Vec<T>(ExpNumbers<T>::kLowest), x));
}

#if !defined(TAPER_VEC_512)
// Infinite, zero, denormal and NaN results: 2^n in two factors, since n may be outside the
// exponents.
template <class T>
__attribute__((noinline, cold)) inline Vec<T> exp_at_limits(Vec<T> x) {
  using K = ExpNumbers<T>;
  Vec<T> shifted, n;
  const Vec<T> y = exp_near_zero(reduce_exp(limit_exp(x), shifted, n));
  // The halves of n, rounded the same way as n itself.
  const Vec<T> half = (n * Vec<T>(0.5) + Vec<T>(K::kMagic)) - Vec<T>(K::kMagic);
  const auto power = [](Vec<T> exponent) {
    const auto bits = (exponent + Vec<T>(K::kMagic)).bits() - Vec<T>(K::kMagic).bits() + K::kBias;
    return Vec<T>::from_bits(bits << K::kFractionBits);
  };
  return y * power(half) * power(n - half);
}
#endif

// For x whose exponential is a normal number.
template <class T>
TAPER_INLINE Vec<T> exp_in_range(Vec<T> x) {
  Vec<T> shifted, n;
  const Vec<T> y = exp_near_zero(reduce_exp(x, shifted, n));
#if defined(TAPER_VEC_512)
  if constexpr (sizeof(T) == 4)
    return _mm512_scalef_ps(y.raw, n.raw);
  else
    return _mm512_scalef_pd(y.raw, n.raw);
#else
  // Multiplies by 2^n: the shift drops all of `shifted` but n.
  return Vec<T>::from_bits(y.bits() + (shifted.bits() << ExpNumbers<T>::kFractionBits));
#endif
}

}  // namespace detail

/// e^x to about 1 ulp. Inf, NaN and denormal results are right.
template <class T>
TAPER_INLINE Vec<T> exp(Vec<T> x) {
#if defined(TAPER_VEC_512)
  return detail::exp_in_range(detail::limit_exp(x));  // its scaling knows all exponents
#else
  const Vec<T> normal = detail::ExpNumbers<T>::kNormal;
  if (TAPER_UNLIKELY(any(!(abs(x) < normal)))) return detail::exp_at_limits(x);
  return detail::exp_in_range(x);
#endif
}

TAPER_CPU_END
