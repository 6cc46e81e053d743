// Activations. The gradient of each has a kernel; the composed form beside it is what is
// differentiated again.

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kInvSqrt2 = 0.70710678118654752440;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;

enum class Saves { kInput, kOutput };

// An activation whose gradient is gradient * d(x), from its input or its result.
template <class Composed>
Tensor activation(const char* name, const char* node, UnaryOp op, BinaryOp gradient_op,
                  const Tensor& self, const UnaryParameters& parameters, Saves saves,
                  const Composed& composed, const Into& into = {}) {
  check_defined(name, self, "self");
  check_floating(name, self);
  const ScalarType dtype = self.scalar_type();
  const bool tracked = recording(self);
  const BeforeWrite saved(into, tracked && saves == Saves::kInput, self);
  const Tensor out = unary(name, op, self, dtype, dtype, into, parameters);
  if (tracked) {
    record_into(into, out, node, inputs(self), saving(saves == Saves::kInput ? *saved : out),
                [gradient_op, parameters, composed](Backward& b) {
                  const Tensor &g = b.grad_output(), x = b.saved(0);
                  b.grad(0) =
                      fused_gradient(gradient_op, g, x, [&] { return composed(g, x); }, parameters);
                });
  }
  return out;
}

// Zeros, as a function of x: where a gradient is recorded, the slope of something piecewise linear
// has derivative 0, and not none.
Tensor zeros_of(const Tensor& x) {
  return x.masked_fill(ones({}, TensorOptions(kBool).device(x.device())), 0);
}

Tensor relu_into(const Tensor& self, const Into& into) {
  check_defined("relu", self, "self");
  TAPER_CHECK_TYPE(self.scalar_type() != kBool, "relu: Boolean inputs not supported for relu");
  if (!self.is_floating_point()) {
    return unary("relu", UnaryOp::kRelu, self, self.scalar_type(), self.scalar_type(), into);
  }
  return activation(
      "relu", "ReluBackward0", UnaryOp::kRelu, BinaryOp::kReluGrad, self, {}, Saves::kOutput,
      [](const Tensor& g, const Tensor& y) { return taper::where(y.gt(0), g, zeros_of(y)); }, into);
}

Tensor leaky_relu_into(const Tensor& self, const Scalar& slope, const Into& into) {
  slope.check_fits(self.scalar_type());
  const double s = slope.toDouble();
  return activation(
      "leaky_relu", "LeakyReluBackward0", UnaryOp::kLeakyRelu, BinaryOp::kLeakyReluGrad, self,
      {{Value(s)}}, Saves::kInput,
      [s](const Tensor& g, const Tensor& x) {
        return taper::where(x.gt(0), g, g * s + zeros_of(x));
      },
      into);
}

}  // namespace

Tensor relu(const Tensor& self) { return relu_into(self, {}); }
Tensor& relu_(Tensor& self) {
  relu_into(self, Into::inplace(self));
  return self;
}

Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) {
  return leaky_relu_into(self, negative_slope, {});
}
Tensor& leaky_relu_(Tensor& self, const Scalar& negative_slope) {
  leaky_relu_into(self, negative_slope, Into::inplace(self));
  return self;
}

Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale,
           const Scalar& input_scale) {
  for (const Scalar* factor : {&alpha, &scale, &input_scale})
    factor->check_fits(self.scalar_type());
  const double a = alpha.toDouble(), s = scale.toDouble(), i = input_scale.toDouble();
  return activation("elu", "EluBackward0", UnaryOp::kElu, BinaryOp::kEluGrad, self,
                    {{Value(a), Value(s), Value(i)}}, Saves::kInput,
                    [a, s, i](const Tensor& g, const Tensor& x) {
                      return taper::where(x.gt(0), g * s, g * ((x * i).exp() * (a * s * i)));
                    });
}
Tensor selu(const Tensor& self) { return taper::elu(self, kSeluAlpha, kSeluScale, 1); }
Tensor celu(const Tensor& self, const Scalar& alpha) {
  TAPER_CHECK(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return taper::elu(self, alpha, 1, 1.0 / alpha.toDouble());
}

Tensor gelu(const Tensor& self, const std::string& approximate) {
  if (approximate == "none") {
    return activation("gelu", "GeluBackward0", UnaryOp::kGelu, BinaryOp::kGeluGrad, self, {},
                      Saves::kInput, [](const Tensor& g, const Tensor& x) {
                        const Tensor cdf = ((x * kInvSqrt2).erf() + 1) * 0.5;
                        return g * (cdf + x * ((x * x * -0.5).exp() * kInvSqrt2Pi));
                      });
  }
  TAPER_CHECK_VALUE(approximate == "tanh",
                    "approximate argument must be either none or tanh, but got '", approximate,
                    "'");
  return activation("gelu", "GeluBackward0", UnaryOp::kGeluTanh, BinaryOp::kGeluTanhGrad, self, {},
                    Saves::kInput, [](const Tensor& g, const Tensor& x) {
                      const Tensor inner = (x + x.pow(3) * kGeluCubic) * kSqrt2OverPi;
                      const Tensor t = inner.tanh();
                      const Tensor slope = (x * x * (3 * kGeluCubic) + 1) * kSqrt2OverPi;
                      return g * ((t + 1) * 0.5 + x * 0.5 * (1 - t * t) * slope);
                    });
}

Tensor silu(const Tensor& self) {
  return activation("silu", "SiluBackward0", UnaryOp::kSilu, BinaryOp::kSiluGrad, self, {},
                    Saves::kInput, [](const Tensor& g, const Tensor& x) {
                      const Tensor s = x.sigmoid();
                      return g * (s * (x * (1 - s) + 1));
                    });
}

Tensor mish(const Tensor& self) {
  return activation("mish", "MishBackward0", UnaryOp::kMish, BinaryOp::kMishGrad, self, {},
                    Saves::kInput, [](const Tensor& g, const Tensor& x) {
                      const Tensor t = taper::softplus(x).tanh();
                      return g * (t + x * x.sigmoid() * (1 - t * t));
                    });
}

Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  const double k = beta.toDouble(), limit = threshold.toDouble();
  return activation("softplus", "SoftplusBackward0", UnaryOp::kSoftplus, BinaryOp::kSoftplusGrad,
                    self, {{Value(k), Value(limit)}}, Saves::kInput,
                    [k, limit](const Tensor& g, const Tensor& x) {
                      return taper::where((x * k).gt(limit), g, g * (x * k).sigmoid());
                    });
}

Tensor log_sigmoid(const Tensor& self) {
  return activation("log_sigmoid", "LogSigmoidBackward0", UnaryOp::kLogSigmoid,
                    BinaryOp::kLogSigmoidGrad, self, {}, Saves::kInput,
                    [](const Tensor& g, const Tensor& x) { return g * (-x).sigmoid(); });
}

Tensor hardsigmoid(const Tensor& self) {
  return activation(
      "hardsigmoid", "HardsigmoidBackward0", UnaryOp::kHardsigmoid, BinaryOp::kHardsigmoidGrad,
      self, {}, Saves::kInput,
      [](const Tensor& g, const Tensor& x) { return g * x.gt(-3).logical_and(x.lt(3)) / 6; });
}

Tensor hardswish(const Tensor& self) {
  return activation(
      "hardswish", "HardswishBackward0", UnaryOp::kHardswish, BinaryOp::kHardswishGrad, self, {},
      Saves::kInput, [](const Tensor& g, const Tensor& x) {
        const Tensor middle = g * (x / 3 + 0.5);
        return taper::where(x.lt(-3), zeros({}, g.options()), taper::where(x.le(3), middle, g));
      });
}

Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  const UnaryParameters parameters{
      {value_of(threshold, self.scalar_type()), value_of(value, self.scalar_type())}};
  if (!self.is_floating_point()) {
    return unary("threshold", UnaryOp::kThreshold, self, self.scalar_type(), self.scalar_type(), {},
                 parameters);
  }
  const double limit = threshold.toDouble();
  return activation("threshold", "ThresholdBackward0", UnaryOp::kThreshold,
                    BinaryOp::kThresholdGrad, self, parameters, Saves::kInput,
                    [limit](const Tensor& g, const Tensor& x) {
                      return taper::where(x.gt(limit), g, zeros_of(x));
                    });
}

// clamp, but NaN keeps its gradient.
Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  check_defined("hardtanh", self, "self");
  TAPER_CHECK_TYPE(self.scalar_type() != kBool, "hardtanh: Bool inputs not supported for hardtanh");
  // Integers take bounds outside their own type, as in clamp.
  const ScalarType dtype = self.scalar_type();
  const ScalarType bound_dtype = is_floating_point(dtype) ? dtype : kLong;
  const Tensor out = unary("hardtanh", UnaryOp::kClamp, self, dtype, dtype, {},
                           {{value_of(min_val, bound_dtype), value_of(max_val, bound_dtype)}});
  if (recording(self)) {
    record(out, "HardtanhBackward0", inputs(self), saving(self), [min_val, max_val](Backward& b) {
      const Tensor &g = b.grad_output(), x = b.saved(0);
      b.grad(0) = g.masked_fill(x.le(min_val).logical_or(x.ge(max_val)), 0);
      if (autograd::grad_enabled()) b.grad(0) = b.grad(0) + zeros_of(x);
    });
  }
  return out;
}
Tensor relu6(const Tensor& self) { return taper::hardtanh(self, 0, 6); }

// ---- Compositions.

Tensor softsign(const Tensor& self) { return self / (self.abs() + 1); }
Tensor tanhshrink(const Tensor& self) { return self - self.tanh(); }

Tensor softshrink(const Tensor& self, const Scalar& lambd) {
  TAPER_CHECK(lambd.toDouble() >= 0, "lambda must be greater or equal to 0, but found to be ",
              lambd, ".");
  const Tensor zero = zeros({}, self.options());
  // x * 0 rather than 0 keeps NaN.
  return taper::where(self.gt(lambd), self - lambd,
                      taper::where(self.lt(-lambd), self + lambd, self * 0));
}

Tensor hardshrink(const Tensor& self, const Scalar& lambd) {
  return taper::where(self.ge(-lambd).logical_and(self.le(lambd)), zeros({}, self.options()), self);
}

// max(x, 0) + weight * min(x, 0); one weight, or one per channel (dimension 1).
Tensor prelu(const Tensor& self, const Tensor& weight) {
  check_same_device("prelu", self, weight);
  check_same_dtype("prelu", self, weight);
  Tensor w = weight;
  if (weight.numel() != 1) {
    TAPER_CHECK(self.dim() >= 2 && weight.dim() == 1 && weight.size(0) == self.size(1),
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
                weight.numel(), " and channel size = ", self.dim() >= 2 ? self.size(1) : 1, ".");
    Dims shape;
    for (int64_t d = 0; d < self.dim(); ++d) shape.push_back(d == 1 ? weight.numel() : 1);
    w = weight.reshape(shape);
  } else {
    w = weight.reshape({});
  }
  return taper::where(self.gt(0), self, w * self);
}

Tensor glu(const Tensor& self, int64_t dim) {
  TAPER_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t wrapped = wrap_dim(dim, self.dim());
  TAPER_CHECK(self.size(wrapped) % 2 == 0, "Halving dimension must be even, but dimension ",
              wrapped, " is size ", self.size(wrapped));
  const std::vector<Tensor> halves = self.chunk(2, wrapped);
  return halves[0] * halves[1].sigmoid();
}

}  // namespace taper::ops
