// Comparisons, logic and bits: nothing here has a gradient. Extremes of two tensors do.

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

Tensor answer_into(const char* name, BinaryOp op, const Tensor& self, const Tensor& other,
                   const Into& into) {
  check_defined(name, self, "self");
  check_defined(name, other, "other");
  // In place, the target keeps its dtype and gets 0 and 1.
  return binary(name, op, self, other, result_type(self, other), kBool, into);
}

Tensor bits_into(const char* name, BinaryOp op, const Tensor& self, const Tensor& other,
                 const Into& into) {
  check_defined(name, self, "self");
  check_defined(name, other, "other");
  const ScalarType dtype = result_type(self, other);
  TAPER_CHECK_TYPE(is_integral(dtype, true), name,
                   ": expected integral or bool tensors, but the operands' "
                   "common type is ",
                   dtype);
  return binary(name, op, self, other, dtype, dtype, into);
}

}  // namespace

#define TAPER_TENSOR_FORMS(name, Kernel, INTO)                              \
  Tensor name(const Tensor& self, const Tensor& other) {                    \
    return INTO(#name, BinaryOp::k##Kernel, self, other, {});               \
  }                                                                         \
  Tensor& name##_(Tensor& self, const Tensor& other)                        \
  {                                                                         \
    INTO(#name "_", BinaryOp::k##Kernel, self, other, Into::inplace(self)); \
    return self;                                                            \
  }
#define TAPER_ALL_FORMS(name, Kernel, INTO)                                                 \
  TAPER_TENSOR_FORMS(name, Kernel, INTO)                                                    \
  Tensor name(const Tensor& self, const Scalar& other) {                                    \
    return INTO(#name, BinaryOp::k##Kernel, self, wrapped_number(other), {});               \
  }                                                                                         \
  Tensor& name##_(Tensor& self, const Scalar& other)                                        \
  {                                                                                         \
    INTO(#name "_", BinaryOp::k##Kernel, self, wrapped_number(other), Into::inplace(self)); \
    return self;                                                                            \
  }                                                                                         \
  Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other) {                \
    INTO(#name, BinaryOp::k##Kernel, self, other, Into::out(out));                          \
    return out;                                                                             \
  }

TAPER_ALL_FORMS(eq, Eq, answer_into)
TAPER_ALL_FORMS(ne, Ne, answer_into)
TAPER_ALL_FORMS(lt, Lt, answer_into)
TAPER_ALL_FORMS(le, Le, answer_into)
TAPER_ALL_FORMS(gt, Gt, answer_into)
TAPER_ALL_FORMS(ge, Ge, answer_into)
TAPER_ALL_FORMS(not_equal, Ne, answer_into)
TAPER_ALL_FORMS(less, Lt, answer_into)
TAPER_ALL_FORMS(less_equal, Le, answer_into)
TAPER_ALL_FORMS(greater, Gt, answer_into)
TAPER_ALL_FORMS(greater_equal, Ge, answer_into)
TAPER_TENSOR_FORMS(logical_and, LogicalAnd, answer_into)
TAPER_TENSOR_FORMS(logical_or, LogicalOr, answer_into)
TAPER_TENSOR_FORMS(logical_xor, LogicalXor, answer_into)
TAPER_ALL_FORMS(bitwise_and, BitwiseAnd, bits_into)
TAPER_ALL_FORMS(bitwise_or, BitwiseOr, bits_into)
TAPER_ALL_FORMS(bitwise_xor, BitwiseXor, bits_into)
TAPER_ALL_FORMS(bitwise_left_shift, ShiftLeft, bits_into)
TAPER_ALL_FORMS(bitwise_right_shift, ShiftRight, bits_into)

#undef TAPER_TENSOR_FORMS
#undef TAPER_ALL_FORMS

// ---- Whole tensors.

bool equal(const Tensor& self, const Tensor& other) {
  check_same_device("equal", self, other);
  if (!self.sizes().equals(other.sizes())) return false;
  check_same_dtype("equal", self, other);
  return self.eq(other).all().item<bool>();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  check_same_dtype("isclose", self, other);
  TAPER_CHECK(rtol >= 0, "isclose: rtol must be greater than or equal to zero, but got ", rtol);
  TAPER_CHECK(atol >= 0, "isclose: atol must be greater than or equal to zero, but got ", atol);
  Tensor close = self.eq(other);
  if (equal_nan && self.is_floating_point()) {
    close = close.logical_or(self.isnan().logical_and(other.isnan()));
  }
  if (rtol == 0 && atol == 0) return close;
  const ScalarType dtype = to_floating(self.scalar_type());
  const Tensor a = self.to(dtype), b = other.to(dtype);
  const Tensor error = (a - b).abs();
  const Tensor allowed = b.abs() * rtol + atol;
  return close.logical_or(error.isfinite().logical_and(error.le(allowed)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return self.isclose(other, rtol, atol, equal_nan).all().item<bool>();
}

}  // namespace taper::ops
