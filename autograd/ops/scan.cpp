// Running sums, products and extremes along a dimension.

#include <algorithm>
#include <limits>

#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

namespace {

using kernels::ScanOp;

Tensor scan(const char* op, ScanOp kind, const Tensor& self, int64_t dim,
            Tensor* indices = nullptr) {
  const Tensor in = row_major(self);
  const Tensor out = new_result_like(in);
  if (indices) *indices = new_result(self.sizes(), kLong, self.device());
  const auto axis =
      kernels::make_axis_plan(static_cast<int>(in.dim()), in.sizes().data(), static_cast<int>(dim));
  check(kernels_of(in).scan(kind, out.data_ptr(), indices ? indices->data_ptr<int64_t>() : nullptr,
                            in.data_ptr(), in.scalar_type(), axis, stream_of(in)),
        op);
  return out;
}

// Integers are added and multiplied in int64 unless a dtype is asked for.
Tensor in_result_type(const Tensor& self, std::optional<ScalarType> dtype) {
  return cast(self, dtype                                   ? *dtype
                    : is_integral(self.scalar_type(), true) ? kLong
                                                            : self.scalar_type());
}

// From the last element to the first.
template <class Op>
Tensor reversed(const Tensor& x, int64_t dim, const Op& op) {
  return x.dim() == 0 ? op(x) : op(x.flip(dim)).flip(dim);
}

Tensor sum_from_end(const Tensor& x, int64_t dim) {
  return reversed(x, dim, [dim](const Tensor& y) { return y.cumsum(dim); });
}

// Each x[k] is a factor of every product from k on. Where no x is zero, x[k] is divided out of
// them. Else: (product before k) * S[k], with S[k] = g[k] + x[k + 1] S[k + 1].
Tensor cumprod_gradient(const Tensor& g, const Tensor& x, const Tensor& out, int64_t dim) {
  if (x.dim() == 0 || x.numel() == 0) return g;
  if (!x.detach().eq(0).any().item<bool>()) return sum_from_end(g * out, dim) / x;
  const int64_t n = x.size(dim);
  const Tensor one = ones_like(x.narrow(dim, 0, 1));
  const Tensor before = taper::cat({one, x.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  std::vector<Tensor> sums(static_cast<size_t>(n));
  for (int64_t k = n - 1; k >= 0; --k) {
    const Tensor own = g.select(dim, k);
    sums[static_cast<size_t>(k)] =
        k == n - 1 ? own : own + x.select(dim, k + 1) * sums[static_cast<size_t>(k + 1)];
  }
  return before * taper::stack(sums, dim);
}

TensorPair extremes(const char* op, const char* node, ScanOp kind, const Tensor& self,
                    int64_t dim) {
  check_defined(op, self, "self");
  dim = wrap_dim(dim, self.dim());
  Tensor indices;
  const Tensor values = scan(op, kind, self, dim, &indices);
  if (recording(self)) {
    record_all(inputs(values, indices), node, inputs(self), saving(indices.detach()),
               [dim](Backward& b) {
                 const Tensor& g = b.grad_output();
                 b.grad(0) = zeros_like(g).scatter_add_(dim, b.saved(0), g);
               });
  }
  return {values, indices};
}

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  check_defined("cumsum", self, "self");
  dim = wrap_dim(dim, self.dim());
  const Tensor in = in_result_type(self, dtype);
  const Tensor out = scan("cumsum", ScanOp::kSum, in, dim);
  if (recording(in)) {
    record(out, "CumsumBackward0", inputs(in), saving_nothing(),
           [dim](Backward& b) { b.grad(0) = sum_from_end(b.grad_output(), dim); });
  }
  return out;
}

Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  check_defined("cumprod", self, "self");
  dim = wrap_dim(dim, self.dim());
  const Tensor in = in_result_type(self, dtype);
  const Tensor out = scan("cumprod", ScanOp::kProd, in, dim);
  if (recording(in)) {
    record(out, "CumprodBackward0", inputs(in), saving(in, out), [dim](Backward& b) {
      b.grad(0) = cumprod_gradient(b.grad_output(), b.saved(0), b.saved(1), dim);
    });
  }
  return out;
}

TensorPair cummax(const Tensor& self, int64_t dim) {
  return extremes("cummax", "CummaxBackward0", ScanOp::kMax, self, dim);
}
TensorPair cummin(const Tensor& self, int64_t dim) {
  return extremes("cummin", "CumminBackward0", ScanOp::kMin, self, dim);
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  check_defined("logcumsumexp", self, "self");
  check_floating("logcumsumexp", self);
  dim = wrap_dim(dim, self.dim());
  const Tensor out = scan("logcumsumexp", ScanOp::kLogSumExp, self, dim);
  if (recording(self)) {
    // exp(x[k]) * sum over i >= k of g[i] / exp(out[i]), in logarithms and for either sign of g on
    // its own.
    record(out, "LogcumsumexpBackward0", inputs(self), saving(self, out), [dim](Backward& b) {
      const Tensor &g = b.grad_output(), x = b.saved(0), y = b.saved(1);
      // -inf itself would give inf - inf; the lowest number vanishes in the sum as well.
      const double nothing = finite_range(x.scalar_type()).first;
      const Tensor empty_sum = y.detach().eq(-std::numeric_limits<double>::infinity());
      const Tensor shift = y.masked_fill(empty_sum, 0);
      const auto part = [&](const Tensor& gradient) {
        const Tensor skipped = gradient.detach().le(0).logical_or(empty_sum);
        const Tensor terms =
            (gradient.masked_fill(skipped, 1).log() - shift).masked_fill(skipped, nothing);
        const Tensor sums =
            reversed(terms, dim, [dim](const Tensor& t) { return t.logcumsumexp(dim); });
        return (sums + x).exp();
      };
      b.grad(0) = part(g) - part(-g);
    });
  }
  return out;
}

// Differences of neighbours, taken n times.
Tensor diff(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
            const std::optional<Tensor>& append) {
  check_defined("diff", self, "self");
  TAPER_CHECK(self.dim() > 0, "diff expects input to be at least one-dimensional");
  TAPER_CHECK(n >= 0, "diff: order must be non-negative but got ", n);
  dim = wrap_dim(dim, self.dim());
  if (n == 0) return self.clone();
  std::vector<Tensor> parts;
  for (const std::optional<Tensor>& part : {prepend, std::optional<Tensor>(self), append}) {
    if (!part || !part->defined()) continue;
    TAPER_CHECK(part->dim() == self.dim(),
                "diff expects prepend or append to be the same dimension as input");
    parts.push_back(*part);
  }
  Tensor out = parts.size() == 1 ? self : taper::cat(parts, dim);
  // More steps than there are elements leave nothing, like the step that uses up the last one.
  n = std::min(n, out.size(dim));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t left = out.size(dim) - 1;
    const Tensor later = out.narrow(dim, 1, left), earlier = out.narrow(dim, 0, left);
    out = out.scalar_type() == kBool ? later.logical_xor(earlier) : later - earlier;
  }
  return n == 0 ? out.clone() : out;
}

}  // namespace taper::ops
