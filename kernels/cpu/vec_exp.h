#pragma once

#include "taper/kernels/cpu/vec.h"

// The exponential, which half of the activations are made of. Included by vec.h.

TAPER_CPU_BEGIN

namespace detail {

// e^r for |r| <= ln(2) / 2: 1 + r + r^2 times a polynomial, below 0.1 of the last bit off.
TAPER_INLINE Vec<float> exp_near_zero(Vec<float> r) {
  using V = Vec<float>;
  V p = fma(r, V(1.3814594130963087e-3f), V(8.3687175065279007e-3f));
  p = fma(p, r, V(4.1668388992547989e-2f));
  p = fma(p, r, V(1.6666522622108459e-1f));
  p = fma(p, r, V(4.9999994039535522e-1f));
  p = fma(p, r, V(1.f));
  return fma(p, r, V(1.f));
}
TAPER_INLINE Vec<double> exp_near_zero(Vec<double> r) {
  using V = Vec<double>;
  V p = fma(r, V(2.510038549551032e-08), V(2.7620088445409746e-07));
  p = fma(p, r, V(2.7557268459997064e-06));
  p = fma(p, r, V(2.4801521295954376e-05));
  p = fma(p, r, V(1.9841269863053618e-04));
  p = fma(p, r, V(1.3888888917213717e-03));
  p = fma(p, r, V(8.3333333333300620e-03));
  p = fma(p, r, V(4.1666666666624130e-02));
  p = fma(p, r, V(1.6666666666666669e-01));
  p = fma(p, r, V(0.5));
  p = fma(p, r, V(1.));
  return fma(p, r, V(1.));
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

// y * 2^n for a normal result; on v4, whose instruction knows all exponents, for any.
template <class T>
TAPER_INLINE Vec<T> scale_by_power(Vec<T> y, [[maybe_unused]] Vec<T> shifted,
                                   [[maybe_unused]] Vec<T> n) {
#if defined(TAPER_VEC_512)
  if constexpr (sizeof(T) == 4)
    return _mm512_scalef_ps(y.raw, n.raw);
  else
    return _mm512_scalef_pd(y.raw, n.raw);
#else
  // The shift drops all of `shifted` but n. Unsigned, since a negative n makes the sum wrap.
  using Unsigned = typename detail::Lanes<T>::Unsigned;
  const Unsigned power = __builtin_bit_cast(Unsigned, shifted.raw) << ExpNumbers<T>::kFractionBits;
  return __builtin_bit_cast(typename Vec<T>::Raw, __builtin_bit_cast(Unsigned, y.raw) + power);
#endif
}

#if defined(TAPER_VEC_512)

// Beyond the exponents r may be large or NaN; with a bound in its place the result follows from n.
TAPER_INLINE Vec<float> bounded(Vec<float> r) {
  return _mm512_range_ps(r.raw, Vec<float>(0.5f).raw, 2);  // the smaller magnitude, r's sign
}
TAPER_INLINE Vec<double> bounded(Vec<double> r) {
  return _mm512_range_pd(r.raw, Vec<double>(0.5).raw, 2);
}

TAPER_INLINE Vec<float> exp_in_range(Vec<float> x) {
  Vec<float> shifted, n;
  const Vec<float> r = reduce_exp(x, shifted, n);
  return scale_by_power(exp_near_zero(bounded(r)), shifted, n);
}

// 2^(i / 16) in two registers halves the polynomial: x = (n + i / 16) ln(2) + r.
TAPER_INLINE Vec<double> exp_in_range(Vec<double> x) {
  using V = Vec<double>;
  using K = ExpNumbers<double>;
  const __m512d low = {1.,
                       1.0442737824274138,
                       1.0905077326652577,
                       1.1387886347566916,
                       1.189207115002721,
                       1.241857812073484,
                       1.2968395546510096,
                       1.3542555469368927};
  const __m512d high = {1.4142135623730951, 1.4768261459394993, 1.5422108254079407,
                        1.6104903319492543, 1.681792830507429,  1.7562521603732995,
                        1.8340080864093424, 1.9152065613971474};
  const V magic = K::kMagic / 16;  // rounds to sixteenths
  const V shifted = fma(x, V(K::kLog2E), magic);
  const V n = shifted - magic;
  const V r = bounded(fma(n, V(-K::kLn2Low), fma(n, V(-K::kLn2High), x)));
  const __m512i index = __builtin_bit_cast(__m512i, shifted.raw);
  const V power = _mm512_permutex2var_pd(low, index, high);
  V p = fma(r, V(1.3888599801861587e-3), V(8.333471934027262e-3));
  p = fma(p, r, V(4.166666669282794e-2));
  p = fma(p, r, V(1.6666666664417565e-1));
  p = fma(p, r, V(0.49999999999999617));
  p = fma(p, r, V(1.));
  return scale_by_power(fma(power * r, p, power), shifted, n);  // it drops the fraction of n
}

#else

template <class T>
TAPER_INLINE Vec<T> limit_exp(Vec<T> x) {  // NaN passes: it is the second operand
  return min(Vec<T>(ExpNumbers<T>::kHighest), max(Vec<T>(ExpNumbers<T>::kLowest), x));
}

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

// For x whose exponential is a normal number.
template <class T>
TAPER_INLINE Vec<T> exp_in_range(Vec<T> x) {
  Vec<T> shifted, n;
  const Vec<T> y = exp_near_zero(reduce_exp(x, shifted, n));
  return scale_by_power(y, shifted, n);
}
#endif

}  // namespace detail

/// e^x to about 1 ulp. Inf, NaN and denormal results are right.
template <class T>
TAPER_INLINE Vec<T> exp(Vec<T> x) {
#if !defined(TAPER_VEC_512)
  const Vec<T> normal = detail::ExpNumbers<T>::kNormal;
  if (TAPER_UNLIKELY(any(!(abs(x) < normal)))) return detail::exp_at_limits(x);
#endif
  return detail::exp_in_range(x);
}

TAPER_CPU_END
