// Largest and smallest elements. max() and amax() share the gradient among equal extremes, max(dim)
// gives it to the one whose index it returns; between two tensors a tie halves it.

#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

namespace {

using kernels::ArgOp;

uint32_t every_dim(const Tensor& self) { return (1u << self.dim()) - 1; }

void check_has_elements(const char* op, const Tensor& self) {
  TAPER_CHECK(self.numel() > 0, op,
              "(): Expected reduction dim to be specified for input.numel() == 0. "
              "Specify the reduction dim with the 'dim' argument.");
}

void check_dims_not_empty(const char* op, const Tensor& self, uint32_t mask) {
  for (int64_t d = 0; d < self.dim(); ++d) {
    TAPER_CHECK_INDEX(!(mask >> d & 1) || self.size(d) > 0, op, "(): Expected reduction dim ", d,
                      " to have non-zero size.");
  }
}

Tensor extreme_over(const char* op, const char* node, ReduceOp kind, const Tensor& self,
                    uint32_t mask, bool keepdim) {
  const Tensor out = reduce(op, kind, self, mask, keepdim, self.scalar_type());
  if (recording(self)) {
    record(out, node, inputs(self), saving(self, out), [mask, keepdim](Backward& b) {
      const Tensor x = b.saved(0);
      const Tensor y = restore_dims(b.saved(1), x.sizes(), mask, keepdim);
      const Tensor g = restore_dims(b.grad_output(), x.sizes(), mask, keepdim);
      // A NaN is the extreme of all that it stands among, and equals nothing.
      const Tensor chosen = x.detach().eq(y.detach()).logical_or(x.detach().isnan());
      std::vector<int64_t> dims;
      for (int64_t d = 0; d < x.dim(); ++d) {
        if (mask >> d & 1) dims.push_back(d);
      }
      const Tensor count = dims.empty() ? chosen.to(kLong) : chosen.sum(dims, true);
      b.grad(0) = chosen * (g / count);
    });
  }
  return out;
}

Tensor extreme_of_all(const char* op, const char* node, ReduceOp kind, const Tensor& self) {
  check_defined(op, self, "self");
  check_has_elements(op, self);
  return extreme_over(op, node, kind, self, every_dim(self), false);
}

Tensor extreme_of_dims(const char* op, const char* node, ReduceOp kind, const Tensor& self,
                       IntArrayRef dim, bool keepdim) {
  check_defined(op, self, "self");
  const uint32_t mask = dim.empty() ? every_dim(self) : dim_set(dim, self.dim(), op);
  check_dims_not_empty(op, self, mask);
  return extreme_over(op, node, kind, self, mask, keepdim);
}

// Positions along dim, and the values found there where `values` is given.
Tensor find_along(const char* op, ArgOp kind, const Tensor& self, int64_t dim, bool keepdim,
                  Tensor* values) {
  const uint32_t mask = self.dim() == 0 ? 0 : 1u << dim;
  check_dims_not_empty(op, self, mask);
  const Tensor in = row_major(self);
  const Dims sizes = reduced_sizes(self, mask, keepdim);
  const Tensor indices = new_result(sizes, kLong, self.device());
  if (values) *values = new_result(sizes, self.scalar_type(), self.device());
  if (indices.numel() == 0) return indices;
  const auto axis =
      kernels::make_axis_plan(static_cast<int>(in.dim()), in.sizes().data(), static_cast<int>(dim));
  check(kernels_of(in).arg_reduce(kind, values ? values->data_ptr() : nullptr,
                                  indices.data_ptr<int64_t>(), in.data_ptr(), in.scalar_type(),
                                  axis, stream_of(in)),
        op);
  return indices;
}

TensorPair extreme_along(const char* op, const char* node, ArgOp kind, const Tensor& self,
                         int64_t dim, bool keepdim) {
  check_defined(op, self, "self");
  dim = wrap_dim(dim, self.dim());
  Tensor values;
  const Tensor indices = find_along(op, kind, self, dim, keepdim, &values);
  record_selected(node, self, values, indices, dim, keepdim);
  return {values, indices};
}

Tensor position_of_extreme(const char* op, ArgOp kind, const Tensor& self,
                           std::optional<int64_t> dim, bool keepdim) {
  check_defined(op, self, "self");
  if (dim) return find_along(op, kind, self, wrap_dim(*dim, self.dim()), keepdim, nullptr);
  check_has_elements(op, self);
  const Tensor at = find_along(op, kind, self.detach().reshape({-1}), 0, false, nullptr);
  return keepdim ? at.reshape(reduced_sizes(self, every_dim(self), true)) : at;
}

// Tells which of two tensors has the element that becomes the result.
using Comparison = Tensor (*)(const Tensor&, const Tensor&);

Tensor extreme_of_two(const char* op, const char* node, BinaryOp kind, const Tensor& self,
                      const Tensor& other, Comparison loses) {
  check_defined(op, self, "self");
  check_defined(op, other, "other");
  const ScalarType dtype = result_type(self, other);
  const Tensor out = binary(op, kind, self, other, dtype, dtype);
  if (recording(self, other)) {
    record(out, node, inputs(self, other), saving(self, other), [loses](Backward& b) {
      const Tensor a = b.saved(0).detach(), c = b.saved(1).detach();
      const Tensor& g = b.grad_output();
      const Tensor shared = taper::where(a.eq(c), g / 2, g);
      if (b.wants(0)) b.grad(0) = shared.masked_fill(loses(a, c), 0);
      if (b.wants(1)) b.grad(1) = shared.masked_fill(loses(c, a), 0);
    });
  }
  return out;
}

// The same, but a number wins over NaN; of two NaNs the first counts.
Tensor number_of_two(const char* op, const char* node, BinaryOp kind, const Tensor& self,
                     const Tensor& other, Comparison wins) {
  check_defined(op, self, "self");
  check_defined(op, other, "other");
  const ScalarType dtype = result_type(self, other);
  const Tensor out = binary(op, kind, self, other, dtype, dtype);
  if (recording(self, other)) {
    record(out, node, inputs(self, other), saving(self, other), [wins](Backward& b) {
      const Tensor a = b.saved(0).detach(), c = b.saved(1).detach();
      const Tensor& g = b.grad_output();
      const Tensor tie = a.eq(c), first = wins(a, c).logical_or(c.isnan());
      const Tensor shared = taper::where(tie, g / 2, g);
      if (b.wants(0)) b.grad(0) = shared.masked_fill(first.logical_or(tie).logical_not(), 0);
      if (b.wants(1)) b.grad(1) = shared.masked_fill(first, 0);
    });
  }
  return out;
}

Tensor is_less(const Tensor& a, const Tensor& b) { return a.lt(b); }
Tensor is_greater(const Tensor& a, const Tensor& b) { return a.gt(b); }

}  // namespace

Tensor max(const Tensor& self) {
  return extreme_of_all("max", "MaxBackward1", ReduceOp::kMax, self);
}
Tensor min(const Tensor& self) {
  return extreme_of_all("min", "MinBackward1", ReduceOp::kMin, self);
}

TensorPair max(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_along("max", "MaxBackward0", ArgOp::kMax, self, dim, keepdim);
}
TensorPair min(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_along("min", "MinBackward0", ArgOp::kMin, self, dim, keepdim);
}

Tensor max(const Tensor& self, const Tensor& other) { return self.maximum(other); }
Tensor min(const Tensor& self, const Tensor& other) { return self.minimum(other); }

Tensor amax(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return extreme_of_dims("amax", "AmaxBackward0", ReduceOp::kMax, self, dim, keepdim);
}
Tensor amin(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return extreme_of_dims("amin", "AminBackward0", ReduceOp::kMin, self, dim, keepdim);
}

TensorPair aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  TAPER_CHECK_INDEX(self.numel() > 0 || (dim && self.size(*dim) > 0),
                    "aminmax(): Expected a reduction over at least one element, but got shape ",
                    self.sizes());
  return {self.amin(dims, keepdim), self.amax(dims, keepdim)};
}

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return position_of_extreme("argmax", ArgOp::kMax, self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return position_of_extreme("argmin", ArgOp::kMin, self, dim, keepdim);
}

Tensor maximum(const Tensor& self, const Tensor& other) {
  return extreme_of_two("maximum", "MaximumBackward0", BinaryOp::kMaximum, self, other, is_less);
}
Tensor minimum(const Tensor& self, const Tensor& other) {
  return extreme_of_two("minimum", "MinimumBackward0", BinaryOp::kMinimum, self, other, is_greater);
}
Tensor fmax(const Tensor& self, const Tensor& other) {
  return number_of_two("fmax", "FmaxBackward0", BinaryOp::kFmax, self, other, is_greater);
}
Tensor fmin(const Tensor& self, const Tensor& other) {
  return number_of_two("fmin", "FminBackward0", BinaryOp::kFmin, self, other, is_less);
}

}  // namespace taper::ops
