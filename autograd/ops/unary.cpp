// Pointwise ops of one input. Each line names the kernel, what backward needs, and the gradient.

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

constexpr double kTwoOverSqrtPi = 1.1283791670955126;
constexpr double kSqrtPiOverTwo = 0.8862269254527580;
constexpr double kLn2 = 0.6931471805599453;
constexpr double kLn10 = 2.302585092994046;

enum class Saves { kNothing, kInput, kOutput };
enum class Result { kSame, kFloating, kBool };

struct UnaryRule {
  const char* name;
  const char* node;
  UnaryOp op;
  Result result;
  Saves saves;
  void (*backward)(Backward&);
};

Tensor apply(const UnaryRule& rule, const Tensor& self, const Into& into = {}) {
  check_defined(rule.name, self, "self");
  const ScalarType own = self.scalar_type();
  if (own == kBool && (rule.op == UnaryOp::kSign || rule.op == UnaryOp::kSquare)) {
    // Both keep 0 and 1; a square is a number, as in PyTorch.
    return compute(into, rule.name, self.sizes(), rule.op == UnaryOp::kSign ? kBool : kLong,
                   self.device(), [&](const Tensor& out) { copy_values(out, self); });
  }
  TAPER_CHECK_TYPE(rule.result != Result::kSame || own != kBool,
                   rule.op == UnaryOp::kNeg ? "Negation, the `-` operator, on a bool tensor"
                                            : std::string(rule.name) + "() of a bool tensor",
                   " is not supported. Convert to another dtype first, or use logical_not() or "
                   "bitwise_not() to invert a mask.");
  const ScalarType dtype = rule.result == Result::kFloating ? to_floating(own) : own;
  const bool tracked = rule.backward && recording(self);
  if (into.is_out()) check_no_grad_out(rule.name, tracked);
  const BeforeWrite saved(into, tracked && rule.saves == Saves::kInput, self);
  const Tensor out =
      unary(rule.name, rule.op, self, dtype, rule.result == Result::kBool ? kBool : dtype, into);
  if (tracked) {
    record_into(into, out, rule.node, inputs(self),
                saving(rule.saves == Saves::kInput    ? &*saved
                       : rule.saves == Saves::kOutput ? &out
                                                      : nullptr),
                rule.backward);
  }
  return out;
}

void tanh_backward(Backward& b) {
  const Tensor &g = b.grad_output(), y = b.saved(0);
  b.grad(0) = fused_gradient(BinaryOp::kTanhGrad, g, y, [&] { return g * (1 - y * y); });
}

void sigmoid_backward(Backward& b) {
  const Tensor &g = b.grad_output(), y = b.saved(0);
  b.grad(0) = fused_gradient(BinaryOp::kSigmoidGrad, g, y, [&] { return g * (y * (1 - y)); });
}

}  // namespace

// Defines NAME, NAME_ and NAME_out. In the gradient, `g` is what arrives and `b.saved(0)` the input
// or the result, as the rule says.
#define TAPER_UNARY(name, Node, Kernel, result, saves, gradient)                            \
  static constexpr UnaryRule k##Node{#name,          #Node "Backward0", UnaryOp::k##Kernel, \
                                     Result::result, Saves::saves,      gradient};          \
  Tensor name(const Tensor& self) { return apply(k##Node, self); }                          \
  Tensor& name##_(Tensor& self)                                                             \
  {                                                                                         \
    apply(k##Node, self, Into::inplace(self));                                              \
    return self;                                                                            \
  }                                                                                         \
  Tensor& name##_out(Tensor& out, const Tensor& self) {                                     \
    apply(k##Node, self, Into::out(out));                                                   \
    return out;                                                                             \
  }

#define TAPER_GRADIENT(expression)     \
  [](Backward& b) {                    \
    const Tensor& g = b.grad_output(); \
    b.grad(0) = expression;            \
  }

// The functions that are one step everywhere have the gradient zero.
#define TAPER_ZERO_GRADIENT TAPER_GRADIENT(zeros_like(g))

TAPER_UNARY(neg, Neg, Neg, kSame, kNothing, TAPER_GRADIENT(-g))
TAPER_UNARY(abs, Abs, Abs, kSame, kInput, TAPER_GRADIENT(g* b.saved(0).sign()))
TAPER_UNARY(sign, Sign, Sign, kSame, kNothing, TAPER_ZERO_GRADIENT)
TAPER_UNARY(square, Square, Square, kSame, kInput,
            TAPER_GRADIENT(
                // By way of pow where it is recorded, so that a third derivative is 0, not nothing.
                g*((autograd::grad_enabled() ? b.saved(0).pow(1) : b.saved(0)) * 2)))
TAPER_UNARY(floor, Floor, Floor, kSame, kNothing, TAPER_ZERO_GRADIENT)
TAPER_UNARY(ceil, Ceil, Ceil, kSame, kNothing, TAPER_ZERO_GRADIENT)
TAPER_UNARY(round, Round, Round, kSame, kNothing, TAPER_ZERO_GRADIENT)
TAPER_UNARY(trunc, Trunc, Trunc, kSame, kNothing, TAPER_ZERO_GRADIENT)
TAPER_UNARY(frac, Frac, Frac, kSame, kNothing, TAPER_GRADIENT(g))
TAPER_UNARY(exp, Exp, Exp, kFloating, kOutput, TAPER_GRADIENT(g* b.saved(0)))
TAPER_UNARY(exp2, Exp2, Exp2, kFloating, kOutput, TAPER_GRADIENT(g* b.saved(0) * kLn2))
TAPER_UNARY(expm1, Expm1, Expm1, kFloating, kOutput, TAPER_GRADIENT(g*(b.saved(0) + 1)))
TAPER_UNARY(log, Log, Log, kFloating, kInput, TAPER_GRADIENT(g / b.saved(0)))
TAPER_UNARY(log2, Log2, Log2, kFloating, kInput, TAPER_GRADIENT(g / (b.saved(0) * kLn2)))
TAPER_UNARY(log10, Log10, Log10, kFloating, kInput, TAPER_GRADIENT(g / (b.saved(0) * kLn10)))
TAPER_UNARY(log1p, Log1p, Log1p, kFloating, kInput, TAPER_GRADIENT(g / (b.saved(0) + 1)))
TAPER_UNARY(sqrt, Sqrt, Sqrt, kFloating, kOutput, TAPER_GRADIENT(g / (b.saved(0) * 2)))
TAPER_UNARY(rsqrt, Rsqrt, Rsqrt, kFloating, kOutput, TAPER_GRADIENT(g* b.saved(0).pow(3) * -0.5))
TAPER_UNARY(reciprocal, Reciprocal, Reciprocal, kFloating, kOutput,
            TAPER_GRADIENT(-g* b.saved(0) * b.saved(0)))
TAPER_UNARY(sin, Sin, Sin, kFloating, kInput, TAPER_GRADIENT(g* b.saved(0).cos()))
TAPER_UNARY(cos, Cos, Cos, kFloating, kInput, TAPER_GRADIENT(g * -b.saved(0).sin()))
TAPER_UNARY(tan, Tan, Tan, kFloating, kOutput, TAPER_GRADIENT(g*(b.saved(0).square() + 1)))
TAPER_UNARY(asin, Asin, Asin, kFloating, kInput,
            TAPER_GRADIENT(g * (1 - b.saved(0).square()).rsqrt()))
TAPER_UNARY(acos, Acos, Acos, kFloating, kInput,
            TAPER_GRADIENT(g * -(1 - b.saved(0).square()).rsqrt()))
TAPER_UNARY(atan, Atan, Atan, kFloating, kInput, TAPER_GRADIENT(g / (b.saved(0).square() + 1)))
TAPER_UNARY(sinh, Sinh, Sinh, kFloating, kInput, TAPER_GRADIENT(g* b.saved(0).cosh()))
TAPER_UNARY(cosh, Cosh, Cosh, kFloating, kInput, TAPER_GRADIENT(g* b.saved(0).sinh()))
TAPER_UNARY(tanh, Tanh, Tanh, kFloating, kOutput, tanh_backward)
TAPER_UNARY(asinh, Asinh, Asinh, kFloating, kInput,
            TAPER_GRADIENT(g*(b.saved(0).square() + 1).rsqrt()))
TAPER_UNARY(acosh, Acosh, Acosh, kFloating, kInput,
            TAPER_GRADIENT(g*(b.saved(0).square() - 1).rsqrt()))
TAPER_UNARY(atanh, Atanh, Atanh, kFloating, kInput, TAPER_GRADIENT(g / (1 - b.saved(0).square())))
TAPER_UNARY(erf, Erf, Erf, kFloating, kInput,
            TAPER_GRADIENT(g * ((-b.saved(0).square()).exp() * kTwoOverSqrtPi)))
TAPER_UNARY(erfc, Erfc, Erfc, kFloating, kInput,
            TAPER_GRADIENT(g * ((-b.saved(0).square()).exp() * -kTwoOverSqrtPi)))
TAPER_UNARY(erfinv, Erfinv, Erfinv, kFloating, kOutput,
            TAPER_GRADIENT(g*(b.saved(0).square().exp() * kSqrtPiOverTwo)))
TAPER_UNARY(lgamma, Lgamma, Lgamma, kFloating, kInput, TAPER_GRADIENT(g* b.saved(0).digamma()))
TAPER_UNARY(digamma, Digamma, Digamma, kFloating, kNothing, nullptr)
TAPER_UNARY(sigmoid, Sigmoid, Sigmoid, kFloating, kOutput, sigmoid_backward)
TAPER_UNARY(logical_not, LogicalNot, LogicalNot, kBool, kNothing, nullptr)

#undef TAPER_UNARY
#undef TAPER_GRADIENT
#undef TAPER_ZERO_GRADIENT

// Other names of the same ops.
#define TAPER_ALIAS(alias, name)                                 \
  Tensor alias(const Tensor& self) { return taper::name(self); } \
  Tensor& alias##_(Tensor& self)                                 \
  { return taper::name##_(self); }                               \
  Tensor& alias##_out(Tensor& out, const Tensor& self) { return taper::name##_out(out, self); }

TAPER_ALIAS(negative, neg)
TAPER_ALIAS(absolute, abs)
TAPER_ALIAS(fix, trunc)
TAPER_ALIAS(arcsin, asin)
TAPER_ALIAS(arccos, acos)
TAPER_ALIAS(arctan, atan)
TAPER_ALIAS(arcsinh, asinh)
TAPER_ALIAS(arccosh, acosh)
TAPER_ALIAS(arctanh, atanh)
#undef TAPER_ALIAS

namespace {

Tensor bitwise_not_into(const Tensor& self, const Into& into) {
  TAPER_CHECK_TYPE(is_integral(self.scalar_type(), true),
                   "bitwise_not: expected an integral or bool tensor, "
                   "but got ",
                   self.scalar_type());
  return unary("bitwise_not", UnaryOp::kBitwiseNot, self, self.scalar_type(), self.scalar_type(),
               into);
}

Tensor answer(const char* name, UnaryOp op, const Tensor& self) {
  return unary(name, op, self, self.scalar_type(), kBool);
}

}  // namespace

Tensor bitwise_not(const Tensor& self) { return bitwise_not_into(self, {}); }
Tensor& bitwise_not_(Tensor& self) {
  bitwise_not_into(self, Into::inplace(self));
  return self;
}
Tensor& bitwise_not_out(Tensor& out, const Tensor& self) {
  bitwise_not_into(self, Into::out(out));
  return out;
}

Tensor isnan(const Tensor& self) { return answer("isnan", UnaryOp::kIsNan, self); }
Tensor isinf(const Tensor& self) { return answer("isinf", UnaryOp::kIsInf, self); }
Tensor isfinite(const Tensor& self) { return answer("isfinite", UnaryOp::kIsFinite, self); }

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  const ScalarType dtype = self.scalar_type();
  if (!is_floating_point(dtype)) return self.clone();
  const auto [lowest, highest] = finite_range(dtype);
  const Tensor out = unary(
      "nan_to_num", UnaryOp::kNanToNum, self, dtype, dtype, {},
      {{Value(nan.value_or(0)), Value(posinf.value_or(highest)), Value(neginf.value_or(lowest))}});
  if (recording(self)) {
    record(out, "NanToNumBackward0", inputs(self), saving(self), [](Backward& b) {
      b.grad(0) = b.grad_output().masked_fill(b.saved(0).isfinite().logical_not(), 0);
    });
  }
  return out;
}

}  // namespace taper::ops
