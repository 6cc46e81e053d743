#pragma once

#include "taper/kernels/functors/math.h"

// One functor per TernaryOp, of the same name. P as in unary.h; Where moves elements of any kind.

namespace taper::kernels::functors {

#define TAPER_OPERATOR \
  template <class P>   \
  TAPER_INLINE TAPER_HOST_DEVICE

struct Where {
  TAPER_OPERATOR P operator()(bool a, P b, P c) const { return a ? b : c; }
};
struct ClampTensor {  // the upper bound wins; NaN anywhere gives NaN
  TAPER_OPERATOR P operator()(P a, P low, P high) const { return minimum(maximum(a, low), high); }
};
struct Addcmul {
  TAPER_OPERATOR P operator()(P a, P b, P c, const ParametersOf<P>& p) const {
    return add(a, mul(mul(P(p.p0), b), c));
  }
};
struct Addcdiv {
  TAPER_OPERATOR P operator()(P a, P b, P c, const ParametersOf<P>& p) const {
    return a + P(p.p0) * b / c;
  }
};
struct Lerp {  // from the nearer end, so that weight 1 gives b exactly
  TAPER_OPERATOR P operator()(P a, P b, P weight) const {
    const P way = b - a;
    return select(abs(weight) < P(0.5), a + weight * way, b - way * (P(1) - weight));
  }
};

#undef TAPER_OPERATOR

}  // namespace taper::kernels::functors
