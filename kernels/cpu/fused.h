#pragma once

#include <cmath>

#include "taper/kernels/cpu/vec.h"

// a * b + c, rounded once on every level: numbers that must not depend on the instruction set.
// Where the processor has no such instruction it is made from doubles, whose sum is rounded to odd.
// Not for sums that overflow or are NaN: this serves the random numbers.

TAPER_CPU_BEGIN

#if defined(__FP_FAST_FMAF)

TAPER_INLINE float fused_multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

#else

// The product is exact in double. An inexact sum gets an odd last bit, so that rounding it again,
// to float, cannot meet a false tie (Boldo and Melquiond, 2008).
TAPER_INLINE float fused_multiply_add(float a, float b, float c) {
  const double product = static_cast<double>(a) * b;
  const double sum = product + c;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  int64_t bits = __builtin_bit_cast(int64_t, sum);
  const int64_t step = (error > 0) == (sum > 0) ? 1 : -1;
  bits += error != 0 && (bits & 1) == 0 ? step : 0;
  return static_cast<float>(__builtin_bit_cast(double, bits));
}

#endif

TAPER_INLINE double fused_multiply_add(double a, double b, double c) { return std::fma(a, b, c); }

namespace detail {
typedef int64_t PairBits __attribute__((vector_size(16)));
}

TAPER_INLINE Vec<float> fused_multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
#if defined(TAPER_VEC_512) || defined(TAPER_VEC_256)
  return fma(a, b, c);
#elif defined(TAPER_VEC_128)
  // As above, two lanes at a time.
  const auto pair = [](__m128d x, __m128d y, __m128d z) -> __m128d {
    const __m128d product = x * y, sum = product + z;
    const __m128d part = sum - product;
    const __m128d error = (product - (sum - part)) + (z - part);
    const auto bits = __builtin_bit_cast(detail::PairBits, sum);
    const detail::PairBits same_sign = (error > 0.0) == (sum > 0.0);  // -1 or 0
    const detail::PairBits inexact = error != 0.0;
    return __builtin_bit_cast(__m128d, bits + (inexact & ((bits & 1) - 1) & (-1 - 2 * same_sign)));
  };
  const auto low = [](__m128 v) { return _mm_cvtps_pd(v); };
  const auto high = [](__m128 v) { return _mm_cvtps_pd(_mm_movehl_ps(v, v)); };
  return _mm_movelh_ps(_mm_cvtpd_ps(pair(low(a.raw), low(b.raw), low(c.raw))),
                       _mm_cvtpd_ps(pair(high(a.raw), high(b.raw), high(c.raw))));
#else
  for (int i = 0; i < Vec<float>::kSize; ++i) {
    a.raw[i] = fused_multiply_add(float(a.raw[i]), float(b.raw[i]), float(c.raw[i]));
  }
  return a;
#endif
}

TAPER_CPU_END
