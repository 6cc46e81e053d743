// Arithmetic of two operands: broadcast, type promotion, and the gradients. Gradients need not care
// about broadcasting: the engine sums them down to the operand's shape.

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

Tensor number(const Scalar& value) { return wrapped_number(value); }

void check_operands(const char* op, const Tensor& self, const Tensor& other) {
  check_defined(op, self, "self");
  check_defined(op, other, "other");
}

// Saves each operand only for the other one's gradient.
#define TAPER_SAVE_OPERANDS                                  \
  const bool tracked = recording(self, other);               \
  const bool self_wants = tracked && self.requires_grad();   \
  const bool other_wants = tracked && other.requires_grad(); \
  if (into.is_out()) check_no_grad_out(kName, tracked)

void check_alpha(const char* op, ScalarType dtype, const Scalar& alpha) {
  TAPER_CHECK(!alpha.isBoolean() || dtype == kBool, op,
              ": Boolean alpha only supported for Boolean results.");
  TAPER_CHECK(is_floating_point(dtype) || alpha.isIntegral(true), op,
              ": For integral input tensors, argument alpha must not be a floating point number.");
}

// The factor of most calls is 1, and fits everywhere.
Value factor_in(const Scalar& alpha, ScalarType dtype) {
  return TAPER_LIKELY(alpha.equal(1)) ? Value(1) : value_of(alpha, dtype);
}

Tensor add_into(const Tensor& self, const Tensor& other, const Scalar& alpha, const Into& into) {
  constexpr const char* kName = "add";
  check_operands(kName, self, other);
  const ScalarType dtype = result_type(self, other);
  check_alpha(kName, dtype, alpha);
  TAPER_SAVE_OPERANDS;
  const Tensor out =
      binary(kName, BinaryOp::kAdd, self, other, dtype, dtype, into, factor_in(alpha, dtype));
  if (self_wants || other_wants) {
    record_into(into, out, "AddBackward0", inputs(self, other), saving_nothing(),
                [alpha](Backward& b) {
                  const Tensor& g = b.grad_output();
                  if (b.wants(1)) b.grad(1) = alpha.equal(1) ? g : g * alpha;
                  if (b.wants(0)) b.grad(0) = g;
                });
  }
  return out;
}

Tensor sub_into(const Tensor& self, const Tensor& other, const Scalar& alpha, const Into& into) {
  constexpr const char* kName = "sub";
  check_operands(kName, self, other);
  TAPER_CHECK(
      self.scalar_type() != kBool || other.scalar_type() != kBool,
      "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
      "`logical_xor()` operator instead.");
  TAPER_CHECK(
      self.scalar_type() != kBool && other.scalar_type() != kBool,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
      "to invert a mask, use the `~` or `logical_not()` operator instead.");
  const ScalarType dtype = result_type(self, other);
  check_alpha(kName, dtype, alpha);
  TAPER_SAVE_OPERANDS;
  const Tensor out =
      binary(kName, BinaryOp::kSub, self, other, dtype, dtype, into, factor_in(alpha, dtype));
  if (self_wants || other_wants) {
    record_into(into, out, "SubBackward0", inputs(self, other), saving_nothing(),
                [alpha](Backward& b) {
                  const Tensor& g = b.grad_output();
                  if (b.wants(1)) b.grad(1) = alpha.equal(1) ? -g : g * -alpha;
                  if (b.wants(0)) b.grad(0) = g;
                });
  }
  return out;
}

Tensor mul_into(const Tensor& self, const Tensor& other, const Into& into) {
  constexpr const char* kName = "mul";
  check_operands(kName, self, other);
  const ScalarType dtype = result_type(self, other);
  TAPER_SAVE_OPERANDS;
  const BeforeWrite saved_self(into, other_wants, self);
  const BeforeWrite saved_other(into, self_wants, other);
  const Tensor out = binary(kName, BinaryOp::kMul, self, other, dtype, dtype, into);
  if (self_wants || other_wants) {
    record_into(into, out, "MulBackward0", inputs(self, other),
                saving(when(other_wants, *saved_self), when(self_wants, *saved_other)),
                [](Backward& b) {
                  const Tensor& g = b.grad_output();
                  if (b.wants(0)) b.grad(0) = g * b.saved(1);
                  if (b.wants(1)) b.grad(1) = g * b.saved(0);
                });
  }
  return out;
}

Tensor div_into(const Tensor& self, const Tensor& other, const Into& into) {
  constexpr const char* kName = "div";
  check_operands(kName, self, other);
  const ScalarType dtype = to_floating(result_type(self, other));
  TAPER_SAVE_OPERANDS;
  const BeforeWrite saved_self(into, other_wants, self);
  const BeforeWrite saved_other(into, self_wants || other_wants, other);
  const Tensor out = binary(kName, BinaryOp::kDiv, self, other, dtype, dtype, into);
  if (self_wants || other_wants) {
    record_into(into, out, "DivBackward0", inputs(self, other),
                saving(when(other_wants, *saved_self), *saved_other), [](Backward& b) {
                  const Tensor& g = b.grad_output();
                  const Tensor other = b.saved(1);
                  if (b.wants(0)) b.grad(0) = g / other;
                  if (b.wants(1)) b.grad(1) = -g * ((b.saved(0) / other) / other);
                });
  }
  return out;
}

// Division rounded to a whole number: its gradient is zero.
Tensor rounded_division_into(const char* kName, BinaryOp op, const Tensor& self,
                             const Tensor& other, const Into& into) {
  check_operands(kName, self, other);
  const ScalarType dtype = result_type(self, other);
  TAPER_CHECK_TYPE(dtype != kBool, kName, ": is not supported for bool tensors");
  TAPER_SAVE_OPERANDS;
  const Tensor out = binary(kName, op, self, other, dtype, dtype, into);
  if (self_wants || other_wants) {
    record_into(into, out, "DivBackward2", inputs(self, other), saving_nothing(), [](Backward& b) {
      const Tensor zero = zeros_like(b.grad_output());
      if (b.wants(0)) b.grad(0) = zero;
      if (b.wants(1)) b.grad(1) = zero;
    });
  }
  return out;
}

Tensor div_into(const Tensor& self, const Tensor& other,
                const std::optional<std::string>& rounding_mode, const Into& into) {
  if (!rounding_mode) return div_into(self, other, into);
  TAPER_CHECK_VALUE(*rounding_mode == "floor" || *rounding_mode == "trunc",
                    "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
                    *rounding_mode, "'");
  return rounded_division_into(
      "div", *rounding_mode == "floor" ? BinaryOp::kDivFloor : BinaryOp::kDivTrunc, self, other,
      into);
}

// remainder (sign of the divisor, as Python) and fmod (sign of the dividend, as C).
Tensor modulo_into(const char* kName, BinaryOp op, const Tensor& self, const Tensor& other,
                   const Into& into) {
  check_operands(kName, self, other);
  const ScalarType dtype = result_type(self, other);
  TAPER_CHECK_TYPE(dtype != kBool, kName, ": is not supported for bool tensors");
  TAPER_SAVE_OPERANDS;
  const BeforeWrite saved_self(into, other_wants, self);
  const BeforeWrite saved_other(into, other_wants, other);
  const Tensor out = binary(kName, op, self, other, dtype, dtype, into);
  if (self_wants || other_wants) {
    const bool floors = op == BinaryOp::kRemainder;
    const bool by_number = other.impl().is_wrapped_number;
    const char* const name = floors      ? by_number ? "RemainderBackward0" : "RemainderBackward1"
                             : by_number ? "FmodBackward0"
                                         : "FmodBackward1";
    record_into(into, out, name, inputs(self, other),
                saving(when(other_wants, *saved_self), when(other_wants, *saved_other)),
                [floors](Backward& b) {
                  const Tensor& g = b.grad_output();
                  if (b.wants(0)) b.grad(0) = g;
                  if (b.wants(1)) {
                    b.grad(1) = -g * b.saved(0).div(b.saved(1), floors ? "floor" : "trunc");
                  }
                });
  }
  return out;
}

Tensor pow_into(const Tensor& self, const Tensor& exponent, const Into& into) {
  constexpr const char* kName = "pow";
  const Tensor& other = exponent;
  check_operands(kName, self, other);
  const ScalarType dtype = result_type(self, other);
  TAPER_CHECK_TYPE(dtype != kBool, kName, ": is not supported for bool tensors");
  TAPER_SAVE_OPERANDS;
  const BeforeWrite saved_self(into, tracked, self);
  const BeforeWrite saved_other(into, tracked, other);
  const Tensor out = binary(kName, BinaryOp::kPow, self, other, dtype, dtype, into);
  if (self_wants || other_wants) {
    record_into(into, out, self.impl().is_wrapped_number ? "PowBackward2" : "PowBackward1",
                inputs(self, other), saving(*saved_self, *saved_other, when(other_wants, out)),
                [](Backward& b) {
                  const Tensor& g = b.grad_output();
                  const Tensor base = b.saved(0), exponent = b.saved(1);
                  if (b.wants(0)) {
                    // x^0 is constant, also at 0, where the formula would give 0 * inf.
                    const Tensor slope = exponent * base.pow(exponent - 1);
                    b.grad(0) = taper::where(exponent.eq(0), zeros({}, g.options()), g * slope);
                  }
                  if (b.wants(1)) {
                    // 0^y is constant for y >= 0.
                    const Tensor flat = base.eq(0).logical_and(exponent.ge(0));
                    b.grad(1) = taper::where(flat, zeros({}, g.options()),
                                             g * (b.saved(2) * cast(base, g.scalar_type()).log()));
                  }
                });
  }
  return out;
}

Tensor pow_into(const Tensor& self, const Scalar& exponent, const Into& into) {
  constexpr const char* kName = "pow";
  check_defined(kName, self, "self");
  const ScalarType dtype = result_type(self, exponent);
  TAPER_CHECK_TYPE(dtype != kBool, kName, ": is not supported for bool tensors");
  TAPER_CHECK(is_floating_point(dtype) || exponent.toLong() >= 0,
              "Integers to negative integer powers are not allowed.");
  const bool tracked = recording(self);
  if (into.is_out()) check_no_grad_out(kName, tracked);
  // An integer's exponent has to be one of its type; a floating base takes any.
  if (!is_floating_point(dtype)) exponent.check_fits(dtype);
  const BeforeWrite saved_self(into, tracked, self);
  const Tensor out =
      unary(kName, UnaryOp::kPowScalar, self, dtype, dtype, into, {{value_of(exponent)}});
  if (tracked) {
    record_into(
        into, out, "PowBackward0", inputs(self), saving(*saved_self), [exponent](Backward& b) {
          const Tensor& g = b.grad_output();
          if (exponent.equal(0)) {
            b.grad(0) = zeros_like(g);
          } else if (exponent.equal(2) && !autograd::grad_enabled()) {
            b.grad(0) = g * (b.saved(0) * 2);
          } else {
            // Also for 2, where it is recorded: the next derivatives are then 2 and 0, not nothing.
            const Scalar lower = exponent.isFloatingPoint() ? Scalar(exponent.toDouble() - 1)
                                                            : Scalar(exponent.toLong() - 1);
            b.grad(0) = g * (b.saved(0).pow(lower) * exponent);
          }
        });
  }
  return out;
}

#undef TAPER_SAVE_OPERANDS

}  // namespace

// The forms of an op: (tensor, tensor), (tensor, number), in place, out. ARGS are the extra
// arguments.
#define TAPER_FORMS(name, INTO, DECLARED, PASSED)                 \
  Tensor name(const Tensor& self, const Tensor& other DECLARED) { \
    return INTO(self, other PASSED, {});                          \
  }                                                               \
  Tensor name(const Tensor& self, const Scalar& other DECLARED) { \
    return INTO(self, number(other) PASSED, {});                  \
  }                                                               \
  Tensor& name##_(Tensor& self, const Tensor& other DECLARED)     \
  {                                                               \
    INTO(self, other PASSED, Into::inplace(self));                \
    return self;                                                  \
  }                                                               \
  Tensor& name##_(Tensor& self, const Scalar& other DECLARED)     \
  {                                                               \
    INTO(self, number(other) PASSED, Into::inplace(self));        \
    return self;                                                  \
  }
#define TAPER_OUT_FORM(name, INTO, DECLARED, PASSED)                                  \
  Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other DECLARED) { \
    INTO(self, other PASSED, Into::out(out));                                         \
    return out;                                                                       \
  }
#define TAPER_NO_ARGS
#define TAPER_COMMA ,
#define TAPER_ALPHA TAPER_COMMA const Scalar& alpha
#define TAPER_PASS_ALPHA TAPER_COMMA alpha
#define TAPER_ROUNDING TAPER_COMMA std::optional<std::string> rounding_mode
#define TAPER_PASS_ROUNDING TAPER_COMMA rounding_mode

TAPER_FORMS(add, add_into, TAPER_ALPHA, TAPER_PASS_ALPHA)
TAPER_OUT_FORM(add, add_into, TAPER_ALPHA, TAPER_PASS_ALPHA)
TAPER_FORMS(sub, sub_into, TAPER_ALPHA, TAPER_PASS_ALPHA)
TAPER_OUT_FORM(sub, sub_into, TAPER_ALPHA, TAPER_PASS_ALPHA)
TAPER_FORMS(subtract, sub_into, TAPER_ALPHA, TAPER_PASS_ALPHA)
TAPER_OUT_FORM(subtract, sub_into, TAPER_ALPHA, TAPER_PASS_ALPHA)
TAPER_FORMS(mul, mul_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_OUT_FORM(mul, mul_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_FORMS(multiply, mul_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_OUT_FORM(multiply, mul_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_FORMS(div, div_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_OUT_FORM(div, div_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_FORMS(div, div_into, TAPER_ROUNDING, TAPER_PASS_ROUNDING)
TAPER_FORMS(divide, div_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_OUT_FORM(divide, div_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_FORMS(divide, div_into, TAPER_ROUNDING, TAPER_PASS_ROUNDING)
TAPER_FORMS(true_divide, div_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_OUT_FORM(true_divide, div_into, TAPER_NO_ARGS, TAPER_NO_ARGS)

namespace {
Tensor floor_divide_into(const Tensor& self, const Tensor& other, const Into& into) {
  return rounded_division_into("floor_divide", BinaryOp::kDivFloor, self, other, into);
}
Tensor remainder_into(const Tensor& self, const Tensor& other, const Into& into) {
  return modulo_into("remainder", BinaryOp::kRemainder, self, other, into);
}
Tensor fmod_into(const Tensor& self, const Tensor& other, const Into& into) {
  return modulo_into("fmod", BinaryOp::kFmod, self, other, into);
}
}  // namespace

TAPER_FORMS(floor_divide, floor_divide_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_OUT_FORM(floor_divide, floor_divide_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_FORMS(remainder, remainder_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_OUT_FORM(remainder, remainder_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_FORMS(fmod, fmod_into, TAPER_NO_ARGS, TAPER_NO_ARGS)
TAPER_OUT_FORM(fmod, fmod_into, TAPER_NO_ARGS, TAPER_NO_ARGS)

Tensor pow(const Tensor& self, const Tensor& exponent) { return pow_into(self, exponent, {}); }
Tensor pow(const Tensor& self, const Scalar& exponent) { return pow_into(self, exponent, {}); }
Tensor pow(const Scalar& self, const Tensor& exponent) {
  return pow_into(number(self), exponent, {});
}
Tensor& pow_(Tensor& self, const Tensor& exponent) {
  pow_into(self, exponent, Into::inplace(self));
  return self;
}
Tensor& pow_(Tensor& self, const Scalar& exponent) {
  pow_into(self, exponent, Into::inplace(self));
  return self;
}
TAPER_OUT_FORM(pow, pow_into, TAPER_NO_ARGS, TAPER_NO_ARGS)

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return taper::sub(other, self, alpha);
}
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return sub_into(number(other), self, alpha, {});
}

}  // namespace taper::ops

namespace taper {

Tensor operator/(const Scalar& a, const Tensor& b) { return ops::wrapped_number(a).div(b); }
Tensor operator%(const Scalar& a, const Tensor& b) { return ops::wrapped_number(a).remainder(b); }

}  // namespace taper
