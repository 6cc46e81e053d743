// Variance and standard deviation, alone or with the mean: one pass (Welford), not from sums of
// squares.

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

struct Moments {
  Tensor var, mean;
};

// `mean` is left undefined unless asked for. Not recorded.
Moments moments(const char* op, const Tensor& self, uint32_t mask, bool unbiased, bool keepdim,
                bool with_mean) {
  const Dims sizes = reduced_sizes(self, mask, keepdim);
  Moments out{new_result(sizes, self.scalar_type(), self.device()), Tensor()};
  if (with_mean) out.mean = new_result(sizes, self.scalar_type(), self.device());
  const TensorImpl& in = self.impl();
  int64_t out_strides[kernels::kMaxRank] = {};
  int kept = 0;
  for (int d = 0; d < in.dim(); ++d) {
    if (!(mask >> d & 1)) out_strides[d] = out.var.impl().strides[keepdim ? d : kept++];
  }
  kernels::ReducePlan plan;
  kernels::make_reduce_plan(plan, {in.dim(), in.sizes.data(), in.strides.data()}, mask,
                            out_strides);
  check(kernels_of(self).var_mean(out.var.data_ptr(), with_mean ? out.mean.data_ptr() : nullptr,
                                  self.data_ptr(), self.scalar_type(), unbiased ? 1 : 0, plan,
                                  stream_of(self)),
        op);
  return out;
}

uint32_t mask_of(const char* op, const Tensor& self, OptionalIntArrayRef dim) {
  check_defined(op, self, "self");
  TAPER_CHECK_AS(NotImplementedError, is_floating_point(self.scalar_type()),
                 "std and var only support floating point and complex dtypes, but got ",
                 self.scalar_type());
  return dim_set(dim, self.dim(), op);
}

std::vector<int64_t> dims_of(uint32_t mask) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; mask >> d != 0; ++d) {
    if (mask >> d & 1) dims.push_back(d);
  }
  return dims;
}

int64_t count_of(IntArrayRef sizes, uint32_t mask) {
  int64_t count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (mask >> d & 1) count *= sizes[d];
  }
  return count;
}

// What the gradients need to know of the reduction.
struct Reduction {
  uint32_t mask;
  bool unbiased, keepdim;
};

// d var / d x = 2 (x - mean) / (n - correction).
Tensor var_gradient(const Tensor& g, const Tensor& x, const Reduction& how) {
  const auto count = static_cast<double>(count_of(x.sizes(), how.mask) - (how.unbiased ? 1 : 0));
  const Tensor mean = how.mask ? x.mean(dims_of(how.mask), true) : x;
  return restore_dims(g, x.sizes(), how.mask, how.keepdim) * (2.0 / count) * (x - mean);
}

// d std / d x = d var / d x / (2 std); 0 where all elements are equal, as in PyTorch.
Tensor std_gradient(const Tensor& g, const Tensor& x, const Tensor& std, const Reduction& how) {
  return var_gradient((g / (std * 2)).masked_fill(std.eq(0), 0), x, how);
}

Tensor mean_gradient(const Tensor& g, const Tensor& x, const Reduction& how) {
  const auto count = static_cast<double>(count_of(x.sizes(), how.mask));
  return (restore_dims(g, x.sizes(), how.mask, how.keepdim) / count).expand(x.sizes());
}

Tensor var_impl(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  const Reduction how{mask_of("var", self, dim), unbiased, keepdim};
  const Tensor out = moments("var", self, how.mask, unbiased, keepdim, false).var;
  if (recording(self)) {
    record(out, "VarBackward0", inputs(self), saving(self),
           [how](Backward& b) { b.grad(0) = var_gradient(b.grad_output(), b.saved(0), how); });
  }
  return out;
}

Tensor std_impl(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  const Reduction how{mask_of("std", self, dim), unbiased, keepdim};
  const Tensor out = moments("std", self, how.mask, unbiased, keepdim, false).var.sqrt_();
  if (recording(self)) {
    record(out, "StdBackward0", inputs(self), saving(self, out), [how](Backward& b) {
      b.grad(0) = std_gradient(b.grad_output(), b.saved(0), b.saved(1), how);
    });
  }
  return out;
}

}  // namespace

Tensor var(const Tensor& self, bool unbiased) {
  return var_impl(self, std::nullopt, unbiased, false);
}
Tensor var(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return var_impl(self, dim, unbiased, keepdim);
}
Tensor var(const Tensor& self, int dim) {
  const int64_t axis = dim;
  return var_impl(self, axis, true, false);
}
Tensor std(const Tensor& self, bool unbiased) {
  return std_impl(self, std::nullopt, unbiased, false);
}
Tensor std(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return std_impl(self, dim, unbiased, keepdim);
}
Tensor std(const Tensor& self, int dim) {
  const int64_t axis = dim;
  return std_impl(self, axis, true, false);
}

TensorPair var_mean(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  const Reduction how{mask_of("var_mean", self, dim), unbiased, keepdim};
  const auto [var, mean] = moments("var_mean", self, how.mask, unbiased, keepdim, true);
  if (recording(self)) {
    record_all(inputs(var, mean), "VarMeanBackward0", inputs(self), saving(self),
               [how](Backward& b) {
                 const Tensor x = b.saved(0);
                 Tensor sum;
                 if (b.has_grad_output(0)) sum = var_gradient(b.grad_output(0), x, how);
                 if (b.has_grad_output(1)) {
                   const Tensor part = mean_gradient(b.grad_output(1), x, how);
                   sum = sum.defined() ? sum + part : part;
                 }
                 b.grad(0) = sum;
               });
  }
  return {var, mean};
}

TensorPair std_mean(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  const Reduction how{mask_of("std_mean", self, dim), unbiased, keepdim};
  const auto [var, mean] = moments("std_mean", self, how.mask, unbiased, keepdim, true);
  const Tensor std = var.sqrt();
  if (recording(self)) {
    record_all(inputs(std, mean), "StdMeanBackward0", inputs(self), saving(self, std),
               [how](Backward& b) {
                 const Tensor x = b.saved(0);
                 Tensor sum;
                 if (b.has_grad_output(0)) sum = std_gradient(b.grad_output(0), x, b.saved(1), how);
                 if (b.has_grad_output(1)) {
                   const Tensor part = mean_gradient(b.grad_output(1), x, how);
                   sum = sum.defined() ? sum + part : part;
                 }
                 b.grad(0) = sum;
               });
  }
  return {std, mean};
}

}  // namespace taper::ops
