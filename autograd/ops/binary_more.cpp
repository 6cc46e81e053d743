// Functions of two numbers beyond arithmetic.

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

struct BinaryRule {
  const char* name;
  const char* node;
  BinaryOp op;
  bool takes_integers;  ///< computed in the default dtype; the others want floating operands
  void (*backward)(Backward&);  ///< saved: self, other, result
};

Tensor apply(const BinaryRule& rule, const Tensor& self, const Tensor& other,
             const Into& into = {}) {
  check_defined(rule.name, self, "self");
  check_defined(rule.name, other, "other");
  const ScalarType common = result_type(self, other);
  TAPER_CHECK_AS(NotImplementedError, rule.takes_integers || is_floating_point(common), "\"",
                 rule.name, "\" not implemented for '", common, "'");
  const ScalarType dtype = to_floating(common);
  const bool tracked = recording(self, other);
  const BeforeWrite saved_self(into, tracked, self);
  const BeforeWrite saved_other(into, tracked, other);
  const Tensor out = binary(rule.name, rule.op, self, other, dtype, dtype, into);
  if (tracked) {
    record_into(into, out, rule.node, inputs(self, other), saving(*saved_self, *saved_other, out),
                rule.backward);
  }
  return out;
}

// At the origin there is no direction; its gradient is 0, as in PyTorch.
void atan2_backward(Backward& b) {
  const Tensor &g = b.grad_output(), y = b.saved(0), x = b.saved(1);
  const Tensor norm = y * y + x * x;
  const Tensor scaled = g / norm.masked_fill(norm.eq(0), 1);
  if (b.wants(0)) b.grad(0) = scaled * x;
  if (b.wants(1)) b.grad(1) = scaled * -y;
}

void hypot_backward(Backward& b) {
  const Tensor scaled = b.grad_output() / b.saved(2);
  if (b.wants(0)) b.grad(0) = scaled * b.saved(0);
  if (b.wants(1)) b.grad(1) = scaled * b.saved(1);
}

void xlogy_backward(Backward& b) {
  const Tensor &g = b.grad_output(), x = b.saved(0), y = b.saved(1);
  if (b.wants(0)) {
    b.grad(0) = g.xlogy(y).masked_fill(x.eq(0).logical_and(y.le(0)), 0);
  }
  if (b.wants(1)) b.grad(1) = g * x / y;
}

void logaddexp_backward(Backward& b) {
  const Tensor &g = b.grad_output(), difference = b.saved(0) - b.saved(1);
  if (b.wants(0)) b.grad(0) = g * difference.sigmoid();
  if (b.wants(1)) b.grad(1) = g * (-difference).sigmoid();
}

void copysign_backward(Backward& b) {
  const Tensor &g = b.grad_output(), x = b.saved(0);
  if (b.wants(0)) b.grad(0) = g * (b.saved(2).detach().sign() * x.detach().sign());
  if (b.wants(1)) b.grad(1) = zeros_like(g);
}

constexpr BinaryRule kAtan2{"atan2", "Atan2Backward0", BinaryOp::kAtan2, true, atan2_backward};
constexpr BinaryRule kHypot{"hypot", "HypotBackward0", BinaryOp::kHypot, false, hypot_backward};
constexpr BinaryRule kXlogy{"xlogy", "XlogyBackward0", BinaryOp::kXlogy, true, xlogy_backward};
constexpr BinaryRule kLogaddexp{"logaddexp", "LogaddexpBackward0", BinaryOp::kLogAddExp, false,
                                logaddexp_backward};
constexpr BinaryRule kCopysign{"copysign", "CopysignBackward0", BinaryOp::kCopysign, true,
                               copysign_backward};

}  // namespace

Tensor atan2(const Tensor& self, const Tensor& other) { return apply(kAtan2, self, other); }
Tensor& atan2_(Tensor& self, const Tensor& other) {
  apply(kAtan2, self, other, Into::inplace(self));
  return self;
}
Tensor hypot(const Tensor& self, const Tensor& other) { return apply(kHypot, self, other); }
Tensor xlogy(const Tensor& self, const Tensor& other) { return apply(kXlogy, self, other); }
Tensor logaddexp(const Tensor& self, const Tensor& other) { return apply(kLogaddexp, self, other); }
Tensor copysign(const Tensor& self, const Tensor& other) { return apply(kCopysign, self, other); }

}  // namespace taper::ops
