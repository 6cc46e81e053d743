#pragma once

#include "taper/kernels/functors/math.h"
#include "taper/kernels/functors/special.h"

// Gradients of unary ops: g is the gradient that arrives. `y` is the op's result, `x` its input.

namespace taper::kernels::functors {

#define TAPER_OPERATOR \
  template <class P>   \
  TAPER_INLINE TAPER_HOST_DEVICE

struct ReluGrad {  // NaN lets the gradient pass
  TAPER_OPERATOR P operator()(P g, P y) const { return select(y <= P(0), P(0), g); }
};
struct ThresholdGrad {
  TAPER_OPERATOR P operator()(P g, P x, const ParametersOf<P>& p) const {
    return select(x <= P(p.p0), P(0), g);
  }
};
struct ClampGrad {
  TAPER_OPERATOR P operator()(P g, P x, const ParametersOf<P>& p) const {
    // A bound that is infinite is none: infinities pass it.
    const P low(p.p0), high(p.p1), infinity(__builtin_inff());
    return select(((low < x) | (low <= -infinity)) & ((x < high) | (infinity <= high)) & (x == x),
                  g, P(0));
  }
};
struct SigmoidGrad {
  TAPER_OPERATOR P operator()(P g, P y) const { return g * (P(1) - y) * y; }
};
struct TanhGrad {
  TAPER_OPERATOR P operator()(P g, P y) const { return g * (P(1) - y * y); }
};
struct GeluGrad : Costly {
  TAPER_OPERATOR P operator()(P g, P x) const {
    const P density = P(0.39894228040143267794) * exp(x * x * P(-0.5));
    return g * (normal_cdf(x) + x * density);
  }
};
struct GeluTanhGrad : Costly {
  TAPER_OPERATOR P operator()(P g, P x) const {
    const P w = gelu_tanh_weight(x);
    const P slope = P(2 * 0.79788456080286535588) * (P(1) + P(3 * 0.044715) * x * x);
    return g * (w + x * w * (P(1) - w) * slope);
  }
};
struct SiluGrad : Costly {
  TAPER_OPERATOR P operator()(P g, P x) const {
    const P s = sigmoid(x);
    return g * s * (P(1) + x * (P(1) - s));
  }
};
struct MishGrad : Costly {
  TAPER_OPERATOR P operator()(P g, P x) const {
    const P t = tanh_softplus(x);
    return g * (t + x * sigmoid(x) * (P(1) - t * t));
  }
};
struct LogSigmoidGrad : Costly {
  TAPER_OPERATOR P operator()(P g, P x) const { return g * sigmoid_of_tail(-x); }
};
struct SoftplusGrad : Costly {
  TAPER_OPERATOR P operator()(P g, P x, const ParametersOf<P>& p) const {
    const P scaled = x * P(p.p0);
    return select(scaled > P(p.p1), g, g * sigmoid(scaled));
  }
};
struct EluGrad : Costly {
  TAPER_OPERATOR P operator()(P g, P x, const ParametersOf<P>& p) const {
    return select(x > P(0), g * P(p.p1), g * P(p.p0 * p.p1 * p.p2) * exp(x * P(p.p2)));
  }
};
struct LeakyReluGrad {
  TAPER_OPERATOR P operator()(P g, P x, const ParametersOf<P>& p) const {
    return select(x > P(0), g, g * P(p.p0));
  }
};
struct HardsigmoidGrad {
  TAPER_OPERATOR P operator()(P g, P x) const {
    return select((x > P(-3)) & (x < P(3)), g / P(6), P(0));
  }
};
struct HardswishGrad {
  TAPER_OPERATOR P operator()(P g, P x) const {
    return select(x <= P(-3), P(0), select(x >= P(3), g, g * (x / P(3) + P(0.5))));
  }
};

#undef TAPER_OPERATOR

}  // namespace taper::kernels::functors
