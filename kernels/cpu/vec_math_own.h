#pragma once

#include "taper/kernels/cpu/vec.h"
#include "taper/kernels/functors/math.h"

// Packet functions for which the vector library is slow or has nothing. Included by vec_math.h.

TAPER_CPU_BEGIN

namespace detail {

// 2^y for y <= 0, 0 where that is not normal.
TAPER_INLINE Vec<float> exp2_of_negative(Vec<float> y) {
  using V = Vec<float>;
  const V magic = ExpNumbers<float>::kMagic;
  const V shifted = y + magic, n = shifted - magic, f = y - n;
  V p = fma(f, V(1.535333867650479e-4f), V(1.3398901792243123e-3f));
  p = fma(p, f, V(9.618437848985195e-3f));
  p = fma(p, f, V(5.5503323674201965e-2f));
  p = fma(p, f, V(0.24022647738456726f));
  p = fma(p, f, V(0.6931471824645996f));
  const V power = scale_by_power(fma(p, f, V(1.f)), shifted, n);
#if defined(TAPER_VEC_512)
  return power;
#else
  return select(y < V(-125.f), V(0.f), power);
#endif
}

}  // namespace detail

/// Within 1 ulp. Coefficients: least squares on erf(x) / x - 1 in x^2, and on -log(erfc(x)).
TAPER_INLINE Vec<float> erf(Vec<float> x) {
  using V = Vec<float>;
  const V s = x * x;
  V p = fma(s, V(-0.000611129158642143f), V(0.005016228184103966f));
  p = fma(p, s, V(-0.02678195759654045f));
  p = fma(p, s, V(0.11282230168581009f));
  p = fma(p, s, V(-0.3761253356933594f));
  p = fma(p, s, V(0.12837915122509003f));
  const V t = min(V(4.f), abs(x));  // from 4 on it is 1; NaN passes
  V q = fma(t, V(-0.00019914975564461201f), V(0.00307473330758512f));
  q = fma(q, t, V(-0.0223525520414114f));
  q = fma(q, t, V(0.10419217497110367f));
  q = fma(q, t, V(0.6368854641914368f));
  q = fma(q, t, V(1.1278517246246338f));
  q = fma(q, t, V(0.00015313156472984701f));
  return select(t > V(0.9f), copysign(V(1.f) - detail::exp_in_range(-q), x), fma(x, p, x));
}

/// The normal distribution by way of its lower half, 2^y with a polynomial y of |x|: nothing
/// cancels. Coefficients: minimax on log2(erfc(|x| / sqrt(2))), weighted for small |x|, up to 6.
TAPER_INLINE Vec<float> normal_cdf(Vec<float> x) {
  using V = Vec<float>;
  const V t = min(V(13.f), abs(x));  // there the half is 0; NaN passes
  V y = fma(t, V(-2.062779103084722e-08f), V(6.504538418994343e-07f));
  y = fma(y, t, V(-8.762381185078993e-06f));
  y = fma(y, t, V(6.385032611433417e-05f));
  y = fma(y, t, V(-0.0002374106552451849f));
  y = fma(y, t, V(-8.432639151578769e-05f));
  y = fma(y, t, V(0.007044408470392227f));
  y = fma(y, t, V(-0.05250208079814911f));
  y = fma(y, t, V(-0.45920315384864807f));
  y = fma(y, t, V(-1.1511058807373047f));
  y = fma(y, t, V(-1.f));
  const V half = detail::exp2_of_negative(y);
  return select(x < V(0.f), half, V(1.f) - half);
}

/// Within 2 ulp: Cephes's rational function below 0.625, beyond that by way of exp.
TAPER_INLINE Vec<double> tanh(Vec<double> x) {
  using V = Vec<double>;
  const V s = x * x;
  V p = fma(s, V(-9.64399179425052238628e-1), V(-9.92877231001918586564e1));
  p = fma(p, s, V(-1.61468768441708447952e3));
  V q = s + V(1.12811678491632931402e2);
  q = fma(q, s, V(2.23548839060100448583e3));
  q = fma(q, s, V(4.84406305325125486048e3));
  const V far = V(1.) - V(2.) / (exp(abs(x) * V(2.)) + V(1.));
  return select(abs(x) < V(0.625), fma(x, s * p / q, x), copysign(far, x));
}

namespace detail {

// The lower and the upper half of a packet as doubles, and back, rounded.
typedef float HalfFloats __attribute__((vector_size(kVecBytes / 2)));
TAPER_INLINE void to_doubles(Vec<float> x, Vec<double> (&out)[2]) {
  HalfFloats halves[2];
  std::memcpy(halves, &x.raw, sizeof halves);
  for (int i = 0; i < 2; ++i) out[i] = __builtin_convertvector(halves[i], Vec<double>::Raw);
}
TAPER_INLINE Vec<float> to_floats(const Vec<double> (&in)[2]) {
  HalfFloats halves[2];
  for (int i = 0; i < 2; ++i) halves[i] = __builtin_convertvector(in[i].raw, HalfFloats);
  Vec<float>::Raw raw;
  std::memcpy(&raw, halves, sizeof raw);
  return raw;
}

// log of a normal positive number to 1e-11: enough for a power that is then rounded to float.
TAPER_INLINE Vec<double> rough_log(Vec<double> x) {
  using V = Vec<double>;
  typedef uint64_t Words __attribute__((vector_size(kVecBytes)));
  // x = 2^e m with m between the square roots of 1/2 and 2, the bits of the former being kRoot.
  constexpr uint64_t kRoot = 0x3fe6a09e667f3bcd;
  const Words bits = __builtin_bit_cast(Words, x.raw) + (0x3ff0000000000000 - kRoot);
  const Words exponent = (bits >> 52) | 0x4330000000000000;  // as a number: 2^52 + 1023 + e
  const V e = V(__builtin_bit_cast(V::Raw, exponent)) - V(0x1p52 + 1023);
  const V m = __builtin_bit_cast(V::Raw, (bits & 0x000fffffffffffff) + kRoot);
  const V f = (m - V(1.)) / (m + V(1.));
  const V s = f * f;
  V p = fma(s, V(2. / 15), V(2. / 13));
  p = fma(p, s, V(2. / 11));
  p = fma(p, s, V(2. / 9));
  p = fma(p, s, V(2. / 7));
  p = fma(p, s, V(2. / 5));
  p = fma(p, s, V(2. / 3));
  p = fma(p, s, V(2.));
  return fma(e, V(0.69314718055994530942), f * p);
}

}  // namespace detail

/// |x|^y through double, then the signs and special cases of IEEE 754's pow. Within 1 ulp.
TAPER_INLINE Vec<float> pow(Vec<float> x, Vec<float> y) {
  using V = Vec<float>;
  using D = Vec<double>;
  const D infinity = __builtin_huge_val();
  const V size = abs(x);
  D base[2], exponent[2];
  detail::to_doubles(size, base);
  detail::to_doubles(y, exponent);
  for (int i = 0; i < 2; ++i) {
    const D log = select(base[i] < infinity, detail::rough_log(base[i]), base[i]);
    base[i] = exp(exponent[i] * select(base[i] == D(0.), -infinity, log));
  }
  V power = detail::to_floats(base);

  const Mask<float> whole = trunc(y) == y;
  const V half = y * V(0.5f);
  const Mask<float> odd = whole & (trunc(half) != half);
  const Mask<float> negative = copysign(V(1.f), x) < V(0.f);
  power = select(negative & odd, -power, power);
  const Mask<float> finite = isfinite(x) & (x != V(0.f));
  power = select(negative & finite & !whole & (y == y), V(__builtin_nanf("")), power);
  const Mask<float> one = (y == V(0.f)) | (x == V(1.f)) | (isinf(y) & (size == V(1.f)));
  return select(one, V(1.f), power);
}

/// The rest of a / b towards zero, exact.
template <class T>
TAPER_INLINE Vec<T> fmod(Vec<T> a, Vec<T> b) {
#if defined(TAPER_VEC_512) || defined(TAPER_VEC_256)
  // While the quotient is exact to a whole number, one fused multiply-add gives the rest exactly.
  const Vec<T> limit = sizeof(T) == 4 ? 0x1p22 : 0x1p51;
  const Vec<T> quotient = a / b;
  if (TAPER_LIKELY(!any(!((abs(quotient) < limit) & isfinite(b))))) {
    Vec<T> rest = fma(-trunc(quotient), b, a);
    // The quotient may have been rounded up to the next whole number.
    rest = select(rest * copysign(Vec<T>(1.), a) < Vec<T>(0.), rest + copysign(b, a), rest);
    return copysign(rest, a);
  }
#endif
  return map_lanes(a, b, [](T x, T y) { return functors::fmod(x, y); });
}

TAPER_CPU_END
