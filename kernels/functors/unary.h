#pragma once

#include "taper/kernels/functors/math.h"
#include "taper/kernels/functors/special.h"

// One functor per UnaryOp, of the same name. P is a packet of floats or doubles on the CPU, one
// float or double in a CUDA thread, or one integer; halves come as float. No branches on values:
// select.

namespace taper::kernels::functors {

// A functor that calls the word of the same meaning from math.h.
#define TAPER_UNARY_WORD(Name, base, word)                   \
  struct Name base {                                         \
    template <class P>                                       \
    TAPER_INLINE TAPER_HOST_DEVICE P operator()(P x) const { \
      return word(x);                                        \
    }                                                        \
  };
TAPER_UNARY_WORD(Neg, , neg)
TAPER_UNARY_WORD(Abs, , abs)
TAPER_UNARY_WORD(Floor, , floor)
TAPER_UNARY_WORD(Ceil, , ceil)
TAPER_UNARY_WORD(Trunc, , trunc)
TAPER_UNARY_WORD(Round, , nearbyint)  // half to even
TAPER_UNARY_WORD(Sqrt, , sqrt)
TAPER_UNARY_WORD(Exp, : Costly, exp)
TAPER_UNARY_WORD(Exp2, : Costly, exp2)
TAPER_UNARY_WORD(Expm1, : Costly, expm1)
TAPER_UNARY_WORD(Log, : Costly, log)
TAPER_UNARY_WORD(Log2, : Costly, log2)
TAPER_UNARY_WORD(Log10, : Costly, log10)
TAPER_UNARY_WORD(Log1p, : Costly, log1p)
TAPER_UNARY_WORD(Sin, : Costly, sin)
TAPER_UNARY_WORD(Cos, : Costly, cos)
TAPER_UNARY_WORD(Tan, : Costly, tan)
TAPER_UNARY_WORD(Asin, : Costly, asin)
TAPER_UNARY_WORD(Acos, : Costly, acos)
TAPER_UNARY_WORD(Atan, : Costly, atan)
TAPER_UNARY_WORD(Sinh, : Costly, sinh)
TAPER_UNARY_WORD(Cosh, : Costly, cosh)
TAPER_UNARY_WORD(Tanh, : Costly, tanh)
TAPER_UNARY_WORD(Asinh, : Costly, asinh)
TAPER_UNARY_WORD(Acosh, : Costly, acosh)
TAPER_UNARY_WORD(Atanh, : Costly, atanh)
TAPER_UNARY_WORD(Erf, : Costly, erf)
TAPER_UNARY_WORD(Erfc, : Costly, erfc)
TAPER_UNARY_WORD(Erfinv, : Costly, erfinv)
TAPER_UNARY_WORD(Lgamma, : Costly, lgamma)
TAPER_UNARY_WORD(Digamma, : Costly, digamma)
TAPER_UNARY_WORD(Sigmoid, : Costly, sigmoid)
TAPER_UNARY_WORD(LogSigmoid, : Costly, log_sigmoid)
#undef TAPER_UNARY_WORD

#define TAPER_OPERATOR \
  template <class P>   \
  TAPER_INLINE TAPER_HOST_DEVICE

// ---- Any number ---------------------------------------------------------------------------------

struct Sign {  // 0 for NaN
  TAPER_OPERATOR P operator()(P x) const {
    return select(x > P(0), P(1), select(is_negative(x), neg(P(1)), P(0)));
  }
};
struct Square {
  TAPER_OPERATOR P operator()(P x) const { return mul(x, x); }
};
struct Relu {
  TAPER_OPERATOR P operator()(P x) const { return maximum(x, P(0)); }
};
struct Clamp {  // the upper bound wins; NaN stays
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    return minimum(maximum(x, bound<P>(p.p0)), bound<P>(p.p1));
  }
};
struct ClampMin {
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    return maximum(x, bound<P>(p.p0));
  }
};
struct ClampMax {
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    return minimum(x, bound<P>(p.p0));
  }
};
struct Threshold {  // NaN stays
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    return select(x <= bound<P>(p.p0), bound<P>(p.p1), x);
  }
};
struct PowScalar : Costly {
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    // The exponent is the same for all elements: these branches are predicted.
    if constexpr (is_integer<P>) {
      return integer_pow(x, p.p0);
    } else {
      if (p.p0 == 2) return x * x;
      if (p.p0 == 3) return x * x * x;
      if (p.p0 == 0.5) return sqrt(x);
      if (p.p0 == -0.5) return P(1) / sqrt(x);
      if (p.p0 == 1) return x;
      if (p.p0 == -1) return P(1) / x;
      if (p.p0 == -2) return P(1) / (x * x);
      return pow(x, P(p.p0));
    }
  }
};

// ---- Floating -----------------------------------------------------------------------------------

struct Frac {
  TAPER_OPERATOR P operator()(P x) const { return x - trunc(x); }
};
struct Rsqrt {
  TAPER_OPERATOR P operator()(P x) const { return P(1) / sqrt(x); }
};
struct Reciprocal {
  TAPER_OPERATOR P operator()(P x) const { return P(1) / x; }
};
struct Silu : Costly {
  TAPER_OPERATOR P operator()(P x) const { return x / (P(1) + exp(-x)); }
};
struct Mish : Costly {
  TAPER_OPERATOR P operator()(P x) const { return x * tanh_softplus(x); }
};
struct Gelu : Costly {
  TAPER_OPERATOR P operator()(P x) const { return x * normal_cdf(x); }
};
struct GeluTanh : Costly {
  TAPER_OPERATOR P operator()(P x) const { return x * gelu_tanh_weight(x); }
};
struct Softplus : Costly {
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    const P scaled = x * P(p.p0);
    return select(scaled > P(p.p1), x, log1p(exp(scaled)) / P(p.p0));
  }
};
struct Elu : Costly {
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    return select(x > P(0), x * P(p.p1), expm1(x * P(p.p2)) * P(p.p0 * p.p1));
  }
};
struct LeakyRelu {
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    return select(x > P(0), x, x * P(p.p0));
  }
};
struct Hardsigmoid {
  TAPER_OPERATOR P operator()(P x) const { return minimum(maximum(x + P(3), P(0)), P(6)) / P(6); }
};
struct Hardswish {
  TAPER_OPERATOR P operator()(P x) const {
    return x * minimum(maximum(x + P(3), P(0)), P(6)) / P(6);
  }
};
struct NanToNum {
  TAPER_OPERATOR P operator()(P x, const ParametersOf<P>& p) const {
    const P finite = select(isinf(x), select(x > P(0), P(p.p1), P(p.p2)), x);
    return select(isnan(x), P(p.p0), finite);
  }
};

// ---- Answers: bool, or a packet's mask ----------------------------------------------------------

struct LogicalNot {
  TAPER_OPERATOR auto operator()(P x) const { return x == P(0); }
};
struct IsNan {
  TAPER_OPERATOR auto operator()(P x) const { return isnan(x); }
};
struct IsInf {
  TAPER_OPERATOR auto operator()(P x) const { return isinf(x); }
};
struct IsFinite {
  TAPER_OPERATOR auto operator()(P x) const { return isfinite(x); }
};

// ---- Integers and bool --------------------------------------------------------------------------

struct BitwiseNot {
  TAPER_OPERATOR P operator()(P x) const {
    if constexpr (is_bool<P>)
      return !x;
    else
      return static_cast<P>(~x);
  }
};

#undef TAPER_OPERATOR

}  // namespace taper::kernels::functors
