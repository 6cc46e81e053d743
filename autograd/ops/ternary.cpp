// Pointwise ops of three operands: choice, limits, fused multiply-adds, interpolation.

#include <cmath>
#include <limits>

#include "taper/autograd/ops/op.h"

namespace taper::ops {

// ---- where and masked_fill: a choice; each side gets the gradient where it was chosen.

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  check_defined("where", condition, "condition");
  check_defined("where", self, "self");
  check_defined("where", other, "other");
  TAPER_CHECK_TYPE(condition.scalar_type() == kBool || condition.scalar_type() == kByte,
                   "where expected condition to be a boolean tensor, but got a tensor with dtype ",
                   condition.scalar_type());
  const ScalarType dtype = result_type(self, other);
  const Tensor mask = cast(condition, kBool);
  const Tensor out = ternary("where", TernaryOp::kWhere, mask, self, other, dtype);
  if (recording(self, other)) {
    record(out, "WhereBackward0", inputs(self, other), saving(mask), [](Backward& b) {
      const Tensor& g = b.grad_output();
      const Tensor mask = b.saved(0), zero = zeros({}, g.options());
      if (b.wants(0)) b.grad(0) = taper::where(mask, g, zero);
      if (b.wants(1)) b.grad(1) = taper::where(mask, zero, g);
    });
  }
  return out;
}

Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  self.check_fits(result_type(self, other));
  return taper::where(condition, wrapped_number(self), other);
}
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  other.check_fits(result_type(self, other));
  return taper::where(condition, self, wrapped_number(other));
}
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  return taper::where(condition, wrapped_number(self), wrapped_number(other));
}

namespace {

void check_mask(const char* op, const Tensor& mask) {
  TAPER_CHECK_TYPE(mask.scalar_type() == kBool, op,
                   ": only supports boolean masks, but got mask with dtype ", mask.scalar_type());
}

Tensor masked_fill_into(const Tensor& self, const Tensor& mask, const Tensor& value,
                        const Into& into) {
  check_mask("masked_fill", mask);
  TAPER_CHECK(value.dim() == 0,
              "masked_fill only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  const ScalarType dtype = self.scalar_type();
  TAPER_CHECK(can_cast(value.scalar_type(), dtype) || value.impl().is_wrapped_number,
              "value cannot be converted to type ", dtype, " without overflow");
  if (value.is_cpu()) value.item().check_fits(dtype);
  const Tensor out = ternary("masked_fill", TernaryOp::kWhere, mask, value, self, dtype, into);
  if (recording(self, value)) {
    const char* const node =
        value.impl().is_wrapped_number ? "MaskedFillBackward0" : "MaskedFillBackward1";
    record_into(into, out, node, inputs(self, value), saving(mask), [](Backward& b) {
      const Tensor &g = b.grad_output(), mask = b.saved(0);
      if (b.wants(0)) b.grad(0) = g.masked_fill(mask, 0);
      if (b.wants(1)) {
        b.grad(1) = taper::where(mask, g, zeros({}, g.options())).sum();
      }
    });
  }
  return out;
}

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return masked_fill_into(self, mask, wrapped_number(value), {});
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return masked_fill_into(self, mask, value, {});
}
Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Scalar& value) {
  masked_fill_into(self, mask, wrapped_number(value), Into::inplace(self));
  return self;
}
Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Tensor& value) {
  masked_fill_into(self, mask, value, Into::inplace(self));
  return self;
}

// ---- clamp: NaN stays, the upper bound wins. The gradient passes strictly between numbers; where
// a bound is a tensor and is met, the two share it. (So PyTorch 2.15; older ones let it pass at the
// bounds as well.)

namespace {

Value lowest_of(ScalarType dtype) {
  if (is_floating_point(dtype)) return Value(-std::numeric_limits<double>::infinity());
  return Value(std::numeric_limits<int64_t>::min());
}
Value highest_of(ScalarType dtype) {
  if (is_floating_point(dtype)) return Value(std::numeric_limits<double>::infinity());
  return Value(std::numeric_limits<int64_t>::max());
}

Tensor clamp_into(const char* name, const Tensor& self, const std::optional<Scalar>& min,
                  const std::optional<Scalar>& max, const Into& into) {
  check_defined(name, self, "self");
  TAPER_CHECK(min || max, name, ": At least one of 'min' or 'max' must not be None");
  ScalarType dtype = self.scalar_type();
  if (min) dtype = result_type(wrapped_number(*min), cast(self, dtype));
  if (max) dtype = promote_types(dtype, result_type(self, *max));
  TAPER_CHECK_TYPE(dtype != kBool, name, ": is not supported for bool tensors");
  // An integer is compared with the bounds as int64, so that these may lie outside its own type.
  const ScalarType bound_dtype = is_floating_point(dtype) ? dtype : kLong;
  if (min) min->check_fits(bound_dtype);
  if (max) max->check_fits(bound_dtype);
  const UnaryParameters limits{
      {min ? value_of(*min) : lowest_of(dtype), max ? value_of(*max) : highest_of(dtype)}};
  const bool tracked = recording(self);
  const BeforeWrite saved(into, tracked, self);
  const Tensor out = unary(name, UnaryOp::kClamp, self, dtype, dtype, into, limits);
  if (tracked) {
    const char* const node = !max   ? "ClampMinBackward0"
                             : !min ? "ClampMaxBackward0"
                                    : "ClampBackward1";
    record_into(into, out, node, inputs(self), saving(*saved), [limits](Backward& b) {
      const Tensor &g = b.grad_output(), x = b.saved(0);
      b.grad(0) = fused_gradient(
          BinaryOp::kClampGrad, g, x,
          [&] {
            const double low = limits.p[0].d, high = limits.p[1].d;
            Tensor inside = x.eq(x);
            if (std::isfinite(low)) inside = inside.logical_and(x.gt(low));
            if (std::isfinite(high)) inside = inside.logical_and(x.lt(high));
            return g * inside;
          },
          limits);
    });
  }
  return out;
}

}  // namespace

Tensor clamp(const Tensor& self, const std::optional<Scalar>& min,
             const std::optional<Scalar>& max) {
  return clamp_into("clamp", self, min, max, {});
}
Tensor& clamp_(Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  clamp_into("clamp_", self, min, max, Into::inplace(self));
  return self;
}
Tensor clip(const Tensor& self, const std::optional<Scalar>& min,
            const std::optional<Scalar>& max) {
  return clamp_into("clip", self, min, max, {});
}
Tensor clamp_min(const Tensor& self, const Scalar& min) {
  return clamp_into("clamp_min", self, min, std::nullopt, {});
}
Tensor& clamp_min_(Tensor& self, const Scalar& min) {
  clamp_into("clamp_min_", self, min, std::nullopt, Into::inplace(self));
  return self;
}
Tensor clamp_max(const Tensor& self, const Scalar& max) {
  return clamp_into("clamp_max", self, std::nullopt, max, {});
}
Tensor& clamp_max_(Tensor& self, const Scalar& max) {
  clamp_into("clamp_max_", self, std::nullopt, max, Into::inplace(self));
  return self;
}

Tensor clamp(const Tensor& self, const std::optional<Tensor>& min,
             const std::optional<Tensor>& max) {
  const bool has_min = min && min->defined(), has_max = max && max->defined();
  TAPER_CHECK(has_min || has_max, "clamp: At least one of 'min' or 'max' must not be None");
  if (!has_max) return taper::maximum(self, *min);
  if (!has_min) return taper::minimum(self, *max);
  const ScalarType dtype = result_type_of(std::vector<Tensor>{self, *min, *max});
  const Tensor out = ternary("clamp", TernaryOp::kClampTensor, self, *min, *max, dtype);
  if (recording(self, *min, *max)) {
    record(
        out, "ClampBackward0", inputs(self, *min, *max), saving(self, *min, *max), [](Backward& b) {
          const Tensor& g = b.grad_output();
          const Tensor x = b.saved(0), low = b.saved(1), high = b.saved(2);
          const Tensor zero = zeros({}, g.options());
          const Tensor proper = low.le(high), half = taper::where(low.lt(high), g * 0.5, g);
          const Tensor below = x.lt(low), above = x.gt(high);
          const Tensor met_low = x.eq(low).logical_and(low.lt(high));
          const Tensor met_high = x.eq(high).logical_and(low.lt(high));
          if (b.wants(0)) {
            const Tensor own = taper::where(met_low.logical_or(met_high), half, g);
            b.grad(0) =
                taper::where(below.logical_or(above).logical_or(proper.logical_not()), zero, own);
          }
          if (b.wants(1)) {
            const Tensor own = taper::where(below, g, taper::where(met_low, half, zero));
            b.grad(1) = taper::where(proper, own, zero);
          }
          if (b.wants(2)) {
            const Tensor own = taper::where(above, g, taper::where(met_high, half, zero));
            b.grad(2) = taper::where(proper, own, g);
          }
        });
  }
  return out;
}

// ---- self + value * a * b, self + value * a / b.

namespace {

Tensor addcmul_into(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value,
                    const Into& into) {
  const ScalarType dtype = result_type_of(std::vector<Tensor>{self, a, b});
  const bool tracked = recording(self, a, b);
  const BeforeWrite saved_a(into, tracked, a), saved_b(into, tracked, b);
  const Tensor out =
      ternary("addcmul", TernaryOp::kAddcmul, self, a, b, dtype, into, value_of(value, dtype));
  if (tracked) {
    record_into(into, out, "AddcmulBackward0", inputs(self, a, b),
                saving(when(b.requires_grad(), *saved_a), when(a.requires_grad(), *saved_b)),
                [value](Backward& back) {
                  const Tensor& g = back.grad_output();
                  if (back.wants(0)) back.grad(0) = g;
                  if (back.wants(1)) back.grad(1) = g * (back.saved(1) * value);
                  if (back.wants(2)) back.grad(2) = g * (back.saved(0) * value);
                });
  }
  return out;
}

Tensor addcdiv_into(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value,
                    const Into& into) {
  const ScalarType dtype = result_type_of(std::vector<Tensor>{self, a, b});
  TAPER_CHECK_TYPE(
      is_floating_point(dtype),
      "Integer division with addcdiv is no longer supported. Use "
      "(input + value * torch.trunc(tensor1 / tensor2)) or convert to a floating dtype.");
  const bool tracked = recording(self, a, b);
  const BeforeWrite saved_a(into, tracked, a), saved_b(into, tracked, b);
  const Tensor out =
      ternary("addcdiv", TernaryOp::kAddcdiv, self, a, b, dtype, into, value_of(value, dtype));
  if (tracked) {
    record_into(into, out, "AddcdivBackward0", inputs(self, a, b), saving(*saved_a, *saved_b),
                [value](Backward& back) {
                  const Tensor& g = back.grad_output();
                  const Tensor a = back.saved(0), b = back.saved(1);
                  if (back.wants(0)) back.grad(0) = g;
                  if (back.wants(1)) back.grad(1) = g * (value / b);
                  if (back.wants(2)) back.grad(2) = -g * (a * value / (b * b));
                });
  }
  return out;
}

Tensor lerp_into(const Tensor& self, const Tensor& end, const Tensor& weight, const Into& into) {
  check_same_dtype("lerp", self, end);
  check_floating("lerp", self);
  const ScalarType dtype = self.scalar_type();
  const Tensor out = ternary("lerp", TernaryOp::kLerp, self, end, weight, dtype, into);
  if (recording(self, end, weight)) {
    const bool weighs = weight.requires_grad();
    record_into(into, out, weight.impl().is_wrapped_number ? "LerpBackward0" : "LerpBackward1",
                inputs(self, end, weight),
                saving(weight, when(weighs, *BeforeWrite(into, weighs, self)), when(weighs, end)),
                [](Backward& b) {
                  const Tensor &g = b.grad_output(), w = b.saved(0);
                  if (b.wants(0)) b.grad(0) = g * (1 - w);
                  if (b.wants(1)) b.grad(1) = g * w;
                  if (b.wants(2)) b.grad(2) = g * (b.saved(2) - b.saved(1));
                });
  }
  return out;
}

}  // namespace

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  return addcmul_into(self, tensor1, tensor2, value, {});
}
Tensor& addcmul_(Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  addcmul_into(self, tensor1, tensor2, value, Into::inplace(self));
  return self;
}
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  return addcdiv_into(self, tensor1, tensor2, value, {});
}
Tensor& addcdiv_(Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  addcdiv_into(self, tensor1, tensor2, value, Into::inplace(self));
  return self;
}
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  return lerp_into(self, end, weight, {});
}
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  weight.check_fits(self.scalar_type());
  return lerp_into(self, end, wrapped_number(weight), {});
}
Tensor& lerp_(Tensor& self, const Tensor& end, const Scalar& weight) {
  weight.check_fits(self.scalar_type());
  lerp_into(self, end, wrapped_number(weight), Into::inplace(self));
  return self;
}

}  // namespace taper::ops
