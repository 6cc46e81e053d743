// Reductions: sums, means, products, norms, any and all. Extremes are in extreme.cpp.

#include <cmath>
#include <limits>

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/op.h"

namespace taper::ops {

Dims reduced_sizes(const Tensor& self, uint32_t mask, bool keepdim) {
  Dims sizes;
  for (int d = 0; d < self.dim(); ++d) {
    if (!(mask >> d & 1)) {
      sizes.push_back(self.size(d));
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

Tensor reduce(const char* name, ReduceOp op, const Tensor& self, uint32_t mask, bool keepdim,
              ScalarType out_dtype, Value p) {
  const Tensor out = new_result(reduced_sizes(self, mask, keepdim), out_dtype, self.device());
  const TensorImpl& in = self.impl();
  kernels::ReduceArgs args;
  args.op = op;
  args.dtype = self.scalar_type();
  args.out_dtype = out_dtype;
  args.out = out.data_ptr();
  args.in = self.data_ptr();
  args.p = p;
  int64_t out_strides[kernels::kMaxRank] = {};
  int kept = 0;
  for (int d = 0; d < in.dim(); ++d) {
    if (!(mask >> d & 1)) {
      out_strides[d] = out.impl().strides[keepdim ? d : kept++];
    }
  }
  kernels::make_reduce_plan(args.plan, {in.dim(), in.sizes.data(), in.strides.data()}, mask,
                            out_strides);
  check(kernels_of(self).reduce(args, stream_of(self)), name);
  return out;
}

Tensor restore_dims(const Tensor& reduced, IntArrayRef input_sizes, uint32_t mask, bool keepdim) {
  if (keepdim) return reduced;
  Dims sizes;
  for (size_t d = 0; d < input_sizes.size(); ++d) {
    sizes.push_back(mask >> d & 1 ? 1 : input_sizes[d]);
  }
  return reduced.reshape(sizes);
}

namespace {

int64_t reduced_numel(const Tensor& self, uint32_t mask) {
  int64_t count = 1;
  for (int d = 0; d < self.dim(); ++d) {
    if (mask >> d & 1) count *= self.size(d);
  }
  return count;
}

uint32_t all_dims(const Tensor& self) { return (1u << self.dim()) - 1; }

// Integers and bool are summed in int64; a dtype that is asked for is cast to before.
ScalarType sum_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype ? *dtype : is_integral(self.scalar_type(), true) ? kLong : self.scalar_type();
}

Tensor sum_over(const char* name, ReduceOp op, const Tensor& self, uint32_t mask, bool keepdim,
                std::optional<ScalarType> dtype) {
  const ScalarType out_dtype = sum_dtype(self, dtype);
  const Tensor in =
      is_integral(out_dtype, true) && out_dtype == kLong && is_integral(self.scalar_type(), true)
          ? self
          : cast(self, out_dtype);
  const ScalarType kernel_dtype = is_integral(in.scalar_type(), true) ? kLong : out_dtype;
  return cast(reduce(name, op, in, mask, keepdim, kernel_dtype), out_dtype);
}

Tensor sum_impl(const char* node, const Tensor& self, uint32_t mask, bool keepdim,
                std::optional<ScalarType> dtype) {
  check_defined("sum", self, "self");
  const Tensor out = [&] {
    const NoGradGuard quiet;
    return sum_over("sum", ReduceOp::kSum, self, mask, keepdim, dtype);
  }();
  if (recording(self) && is_floating_point(out.scalar_type())) {
    record(out, node, inputs(self), saving_nothing(),
           [sizes = Dims(self.sizes()), mask, keepdim](Backward& b) {
             b.grad(0) = restore_dims(b.grad_output(), sizes, mask, keepdim).expand(sizes);
           });
  }
  return out;
}

Tensor mean_impl(const char* node, const Tensor& self, uint32_t mask, bool keepdim,
                 std::optional<ScalarType> dtype) {
  check_defined("mean", self, "self");
  const ScalarType own = dtype.value_or(self.scalar_type());
  TAPER_CHECK_TYPE(is_floating_point(own),
                   "mean(): could not infer output dtype. Input dtype must be a "
                   "floating point dtype. Got: ",
                   own);
  const Tensor in = cast(self, own);
  const Tensor out = reduce("mean", ReduceOp::kMean, in, mask, keepdim, own);
  if (recording(in)) {
    const auto count = static_cast<double>(reduced_numel(in, mask));
    record(out, node, inputs(in), saving_nothing(),
           [sizes = Dims(in.sizes()), mask, keepdim, count](Backward& b) {
             b.grad(0) =
                 (restore_dims(b.grad_output(), sizes, mask, keepdim) / count).expand(sizes);
           });
  }
  return out;
}

// d prod / d x_i is the product of the others: by division where no zero is, else from both sides.
Tensor prod_gradient(const Tensor& g, const Tensor& x, const Tensor& out) {
  if (!autograd::grad_enabled() && !x.eq(0).any().item<bool>()) return g * out / x;
  const Tensor flat = x.reshape({-1});
  const int64_t n = flat.numel();
  const Tensor one = ones({1}, x.options());
  const Tensor before =
      taper::cat({one, flat.narrow(0, 0, std::max<int64_t>(n - 1, 0))}).cumprod(0);
  const Tensor after = taper::cat({one, flat.flip({0}).narrow(0, 0, std::max<int64_t>(n - 1, 0))})
                           .cumprod(0)
                           .flip({0});
  return (g * (before * after).narrow(0, 0, n)).reshape(x.sizes());
}

Tensor prod_gradient_dim(const Tensor& g, const Tensor& x, const Tensor& out, int64_t dim) {
  if (!autograd::grad_enabled() && !x.eq(0).any().item<bool>()) return g * out / x;
  const int64_t n = x.size(dim);
  const Tensor one = ones_like(x.narrow(dim, 0, 1));
  const Tensor before = taper::cat({one, x.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  const Tensor after =
      taper::cat({one, x.flip({dim}).narrow(dim, 0, n - 1)}, dim).cumprod(dim).flip({dim});
  return g * (before * after);
}

}  // namespace

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
  return sum_impl("SumBackward0", self, all_dims(self), false, dtype);
}
Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
           std::optional<ScalarType> dtype) {
  return sum_impl("SumBackward1", self, dim_set(dim, self.dim(), "sum"), keepdim, dtype);
}
Tensor nansum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
              std::optional<ScalarType> dtype) {
  if (!self.is_floating_point()) return self.sum(dim, keepdim, dtype);
  return self.masked_fill(self.isnan(), 0).sum(dim, keepdim, dtype);
}
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) {
  return mean_impl("MeanBackward0", self, all_dims(self), false, dtype);
}
Tensor mean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
            std::optional<ScalarType> dtype) {
  return mean_impl("MeanBackward1", self, dim_set(dim, self.dim(), "mean"), keepdim, dtype);
}

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  const Tensor in =
      is_integral(self.scalar_type(), true) && !dtype ? self : cast(self, sum_dtype(self, dtype));
  const Tensor out = sum_over("prod", ReduceOp::kProd, in.detach(), all_dims(in), false, dtype);
  if (recording(in)) {
    record(out, "ProdBackward0", inputs(in), saving(in, out),
           [](Backward& b) { b.grad(0) = prod_gradient(b.grad_output(), b.saved(0), b.saved(1)); });
  }
  return out;
}

Tensor prod(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  dim = wrap_dim(dim, self.dim());
  if (self.dim() == 0) return self.prod(dtype);
  const Tensor in =
      is_integral(self.scalar_type(), true) && !dtype ? self : cast(self, sum_dtype(self, dtype));
  const Tensor out = sum_over("prod", ReduceOp::kProd, in.detach(), 1u << dim, keepdim, dtype);
  if (recording(in) && in.size(dim) > 0) {
    record(out, "ProdBackward1", inputs(in), saving(in, out), [dim, keepdim](Backward& b) {
      const Tensor x = b.saved(0), y = b.saved(1), &g = b.grad_output();
      b.grad(0) =
          prod_gradient_dim(keepdim ? g : g.unsqueeze(dim), x, keepdim ? y : y.unsqueeze(dim), dim);
    });
  }
  return out;
}

Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  TAPER_CHECK(is_expandable_to(size, self.sizes()), "size {", size, "} is not expandable to size {",
              self.sizes(), "}.");
  const int64_t lead = self.dim() - static_cast<int64_t>(size.size());
  uint32_t mask = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < lead || (size[d - lead] == 1 && self.size(d) != 1)) mask |= 1u << d;
  }
  if (mask == 0) return self;
  return sum_impl("SumBackward1", self, mask, true, std::nullopt).reshape(size);
}

// ---- Any, all, counts.

namespace {

// A bool, but uint8 for uint8: masks had that type once, and PyTorch kept it.
Tensor truth(const char* name, ReduceOp op, const Tensor& self, uint32_t mask, bool keepdim) {
  const Tensor result = reduce(name, op, self, mask, keepdim, kBool);
  return self.scalar_type() == kByte ? result.to(kByte) : result;
}

}  // namespace

Tensor any(const Tensor& self) { return truth("any", ReduceOp::kAny, self, all_dims(self), false); }
Tensor any(const Tensor& self, int64_t dim, bool keepdim) {
  return truth("any", ReduceOp::kAny, self, dim_set(dim, self.dim(), "any"), keepdim);
}
Tensor all(const Tensor& self) { return truth("all", ReduceOp::kAll, self, all_dims(self), false); }
Tensor all(const Tensor& self, int64_t dim, bool keepdim) {
  return truth("all", ReduceOp::kAll, self, dim_set(dim, self.dim(), "all"), keepdim);
}
Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  const uint32_t mask = dim ? dim_set(*dim, self.dim(), "count_nonzero") : all_dims(self);
  return reduce("count_nonzero", ReduceOp::kCountNonzero, self, mask, false, kLong);
}

// ---- Norms.

namespace {

Tensor norm_impl(const Tensor& self, double p, uint32_t mask, bool keepdim) {
  check_floating("norm", self);
  const ReduceOp op = p == 1                   ? ReduceOp::kNormL1
                      : p == 2                 ? ReduceOp::kNormL2
                      : p == 0                 ? ReduceOp::kCountNonzero
                      : std::isinf(p) && p > 0 ? ReduceOp::kNormInf
                      : std::isinf(p)          ? ReduceOp::kNormNegInf
                                               : ReduceOp::kNormP;
  if (p == 0) {
    return reduce("norm", op, self, mask, keepdim, kLong).to(self.scalar_type());
  }
  const Tensor out = reduce("norm", op, self, mask, keepdim, self.scalar_type(), Value(p));
  if (recording(self)) {
    record(out, "LinalgVectorNormBackward0", inputs(self), saving(self, out),
           [p, mask, keepdim](Backward& b) {
             const Tensor x = b.saved(0);
             const Tensor y = restore_dims(b.saved(1), x.sizes(), mask, keepdim);
             const Tensor g = restore_dims(b.grad_output(), x.sizes(), mask, keepdim);
             Tensor slope;
             if (p == 1) {
               slope = x.sign() * g;
             } else if (p == 2) {
               slope = x * (g / y);
             } else if (std::isinf(p)) {
               const Tensor hit = x.abs().eq(y);
               uint32_t dims_mask = mask;
               std::vector<int64_t> dims;
               for (int64_t d = 0; d < x.dim(); ++d) {
                 if (dims_mask >> d & 1) dims.push_back(d);
               }
               slope = x.sign() * hit * (g / hit.sum(dims, true));
             } else {
               slope = x * x.abs().pow(p - 2) * (g / y.pow(p - 1));
             }
             // At a norm of 0 the gradient is 0, as in PyTorch.
             b.grad(0) = slope.masked_fill(y.eq(0), 0);
           });
  }
  return out;
}

}  // namespace

Tensor norm(const Tensor& self, const Scalar& p) {
  return norm_impl(self, p.toDouble(), all_dims(self), false);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  return norm_impl(self, p ? p->toDouble() : 2.0, dim_set(dim, self.dim(), "norm"), keepdim);
}

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const Tensor in = cast(self, to_floating(self.scalar_type()));
  const uint32_t mask = dim_set(dim, in.dim(), "logsumexp");
  const Tensor out = [&] {
    const NoGradGuard quiet;
    if (in.numel() == 0) return in.exp().sum(dim, keepdim).log();
    // Shifted by the largest element; an infinite one is not a shift.
    const Tensor top = in.amax(dim, true);
    const Tensor shift = top.masked_fill(top.abs().eq(std::numeric_limits<double>::infinity()), 0);
    const Tensor sum = (in - shift).exp().sum(dim, keepdim).log();
    return sum + (keepdim ? shift : shift.reshape(sum.sizes()));
  }();
  if (recording(in)) {
    record(out, "LogsumexpBackward0", inputs(in), saving(in, out), [mask, keepdim](Backward& b) {
      const Tensor x = b.saved(0);
      const Tensor y = restore_dims(b.saved(1), x.sizes(), mask, keepdim);
      const Tensor g = restore_dims(b.grad_output(), x.sizes(), mask, keepdim);
      b.grad(0) = g * (x - y).exp();
    });
  }
  return out;
}

}  // namespace taper::ops
