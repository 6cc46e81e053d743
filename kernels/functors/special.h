#pragma once

#include "taper/kernels/functors/math.h"

// Functions that neither the C library nor the packets have, made of words they do have.

namespace taper::kernels::functors {

template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P sigmoid(P x) {
  return P(1) / (P(1) + exp(-x));
}

/// sigmoid(x), with all its digits where it is next to nothing too.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P sigmoid_of_tail(P x) {
  const P z = exp(-abs(x));
  return select(x < P(0), z, P(1)) / (P(1) + z);
}

/// log(sigmoid(x)), without overflow on either side.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P log_sigmoid(P x) {
  return minimum(x, P(0)) - log1p(exp(-abs(x)));
}

/// The standard normal distribution.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P normal_cdf(P x) {
  return P(0.5) * (P(1) + erf(x * P(0.70710678118654752440)));
}

/// (1 + tanh(u)) / 2 = sigmoid(2u) for Hendrycks and Gimpel's u = sqrt(2 / pi) * (x + 0.044715 x^3)
/// in GELU. Unlike 1 + tanh(u), it has all its digits for negative x.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P gelu_tanh_weight(P x) {
  return sigmoid(P(2 * 0.79788456080286535588) * (x + P(0.044715) * x * x * x));
}

/// tanh(softplus(x)) = (e^2 + 2e) / (e^2 + 2e + 2) with e = exp(x); 1 to rounding from x = 20 on.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P tanh_softplus(P x) {
  const P e = exp(minimum(x, P(20)));
  const P n = e * (e + P(2));
  return n / (n + P(2));
}

/// x ** n by squaring, wrapping. Negative n: 1 and -1 have a power among integers, the rest gives
/// 0.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P integer_pow(P x, int64_t n) {
  if (n < 0) {
    if (x == P(1)) return P(1);
    if (x == neg(P(1)) && is_negative(neg(P(1)))) return (n & 1) != 0 ? x : P(1);
    return P(0);
  }
  P result = P(1);
  for (; n > 0; n >>= 1) {
    if (n & 1) result = mul(result, x);
    x = mul(x, x);
  }
  return result;
}

/// The inverse of erf: a rational start (good to 1e-4), then two steps of Newton.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P erfinv(P signed_y) {
  const P size = abs(signed_y);
  const P y = select(size < P(1), size, P(0));  // the rest is answered at the end
  const P z = y * y;
  const P numerator =
      ((P(-0.140543331) * z + P(0.914624893)) * z + P(-1.645349621)) * z + P(0.886226899);
  const P denominator =
      (((P(0.012229801) * z + P(-0.329097515)) * z + P(1.442710462)) * z + P(-2.118377725)) * z +
      P(1);
  const P t = sqrt(-log((P(1) - y) * P(0.5)));
  const P tail =
      (((P(1.641345311) * t + P(3.429567803)) * t + P(-1.624906493)) * t + P(-1.970840454)) /
      ((P(1.637067800) * t + P(3.543889200)) * t + P(1));
  const auto central = y <= P(0.7);
  P x = select(central, y * numerator / denominator, tail);
  for (int step = 0; step < 2; ++step) {
    // erf(x) - y, which in the tail only its complement knows to all digits.
    const P miss = select(central, erf(x) - y, (P(1) - y) - erfc(x));
    x = x - miss / (P(1.12837916709551257390) * exp(-x * x));  // 2 / sqrt(pi)
  }
  const P beyond = select(size == P(1), P(__builtin_huge_val()), P(__builtin_nan("")));
  return copysign(select(size < P(1), x, beyond), signed_y);
}

/// The derivative of lgamma: reflection below 0, recurrence up to 10, then the asymptotic series.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P digamma(P x) {
  const P pi = P(3.14159265358979323846);
  const auto below = x < P(0);
  // cot(pi x) from the distance to a whole number: the poles are there.
  const P fraction = x - nearbyint(x);
  const P reflection = select(below, -(pi / tan(pi * fraction)), P(0));
  P y = select(below, P(1) - x, x);
  P sum = P(0);
  for (int i = 0; i < 10; ++i) {
    const auto small = y < P(10);
    sum = select(small, sum - P(1) / y, sum);
    y = select(small, y + P(1), y);
  }
  const P r = P(1) / (y * y);
  P series = P(8.33333333333333333333e-2);
  series = series * r + P(-2.10927960927960927961e-2);
  series = series * r + P(7.57575757575757575758e-3);
  series = series * r + P(-4.16666666666666666667e-3);
  series = series * r + P(3.96825396825396825397e-3);
  series = series * r + P(-8.33333333333333333333e-3);
  series = series * r + P(8.33333333333333333333e-2);
  const P value = sum + log(y) - P(0.5) / y - series * r + reflection;
  const P pole = copysign(P(__builtin_huge_val()), -x);
  const P at_whole = select(x == P(0), pole, P(__builtin_nan("")));
  return select((x == P(0)) | (below & (fraction == P(0))), at_whole, value);
}

}  // namespace taper::kernels::functors
