// Order and what is picked by it: sort, top-k, median, kthvalue, mode. The gradient goes to the
// elements that were picked.

#include <limits>

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

void record_selected(const char* name, const Tensor& self, const Tensor& values,
                     const Tensor& indices, int64_t dim, bool keepdim) {
  if (!recording(self)) return;
  record_all(inputs(values, indices), name, inputs(self), saving(indices.detach()),
             [sizes = Dims(self.sizes()), dim, keepdim](Backward& b) {
               Tensor g = b.grad_output(), index = b.saved(0);
               if (!keepdim && sizes.size() > 0) {
                 g = g.unsqueeze(dim);
                 index = index.unsqueeze(dim);
               }
               b.grad(0) = zeros(sizes, g.options()).scatter_(dim, index, g);
             });
}

namespace {

struct Sorted {
  Tensor values, indices;
};

// The first k in order along dim, with dim kept. Not recorded.
Sorted first_in_order(const char* op, const Tensor& self, int64_t dim, int64_t k, bool descending,
                      bool stable) {
  const Tensor in = row_major(self);
  Dims sizes(self.sizes());
  if (sizes.size() > 0) sizes[static_cast<int>(dim)] = k;
  const Sorted out{new_result(sizes, self.scalar_type(), self.device()),
                   new_result(sizes, kLong, self.device())};
  if (out.values.numel() == 0) return out;
  kernels::SortArgs args;
  args.dtype = self.scalar_type();
  args.axis =
      kernels::make_axis_plan(static_cast<int>(in.dim()), in.sizes().data(), static_cast<int>(dim));
  args.k = k;
  args.descending = descending;
  args.stable = stable;
  args.values = out.values.data_ptr();
  args.indices = out.indices.data_ptr<int64_t>();
  args.in = in.data_ptr();
  check(kernels_of(self).sort(args, stream_of(self)), op);
  return out;
}

int64_t length_along(const Tensor& self, int64_t dim) {
  return self.dim() == 0 ? 1 : self.size(dim);
}

void check_not_empty(const char* op, const Tensor& self, int64_t dim) {
  TAPER_CHECK_INDEX(length_along(self, dim) > 0, op, "(): Expected reduction dim ", dim,
                    " to have non-zero size.");
}

TensorPair sort_impl(const Tensor& self, bool stable, int64_t dim, bool descending) {
  check_defined("sort", self, "self");
  dim = wrap_dim(dim, self.dim());
  const auto [values, indices] =
      first_in_order("sort", self, dim, length_along(self, dim), descending, stable);
  record_selected("SortBackward0", self, values, indices, dim, true);
  return {values, indices};
}

// The elements at `index` (dim kept), recorded under a name of their own.
TensorPair pick(const char* name, const Tensor& self, const Tensor& index, int64_t dim,
                bool keepdim) {
  Tensor values = self.detach().gather(dim, index), indices = index;
  if (!keepdim && self.dim() > 0) {
    values = values.squeeze(dim);
    indices = indices.squeeze(dim);
  }
  record_selected(name, self, values, indices, dim, keepdim);
  return {values, indices};
}

// Position of the k-th smallest (from 1) along dim, with dim kept.
Tensor kth_position(const char* op, const Tensor& self, int64_t k, int64_t dim) {
  const Tensor order = first_in_order(op, self, dim, k, false, true).indices;
  return self.dim() == 0 ? order : order.narrow(dim, k - 1, 1).contiguous();
}

}  // namespace

TensorPair sort(const Tensor& self, int64_t dim, bool descending) {
  return sort_impl(self, false, dim, descending);
}
TensorPair sort(const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending) {
  return sort_impl(self, stable.value_or(false), dim, descending);
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  check_defined("argsort", self, "self");
  dim = wrap_dim(dim, self.dim());
  return first_in_order("argsort", self, dim, length_along(self, dim), descending, false).indices;
}

// Always sorted, which also satisfies those who did not ask for it.
TensorPair topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  check_defined("topk", self, "self");
  dim = wrap_dim(dim, self.dim());
  TAPER_CHECK(k >= 0 && k <= length_along(self, dim), "topk: selected index k out of range: k is ",
              k, ", but dimension ", dim, " has size ", length_along(self, dim));
  const auto [values, indices] = first_in_order("topk", self, dim, k, largest, false);
  record_selected("TopkBackward0", self, values, indices, dim, true);
  return {values, indices};
}

TensorPair kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  check_defined("kthvalue", self, "self");
  dim = wrap_dim(dim, self.dim());
  check_not_empty("kthvalue", self, dim);
  TAPER_CHECK(k >= 1 && k <= length_along(self, dim),
              "kthvalue(): selected number k out of range for dimension ", dim, ": k is ", k,
              ", the dimension has size ", length_along(self, dim));
  return pick("KthvalueBackward0", self, kth_position("kthvalue", self, k, dim), dim, keepdim);
}

// The lower of the two in the middle; a NaN where there is one.
TensorPair median(const Tensor& self, int64_t dim, bool keepdim) {
  check_defined("median", self, "self");
  dim = wrap_dim(dim, self.dim());
  check_not_empty("median", self, dim);
  Tensor at = kth_position("median", self, (length_along(self, dim) + 1) / 2, dim);
  if (self.is_floating_point()) {
    const Tensor nan = self.detach().isnan();
    if (nan.any().item<bool>()) {
      at = taper::where(nan.any(dim, true), nan.argmax(dim, true), at);
    }
  }
  return pick("MedianBackward1", self, at, dim, keepdim);
}

Tensor median(const Tensor& self) {
  check_defined("median", self, "self");
  if (self.numel() == 0) {
    // NaN; of integers what its conversion gives, as in PyTorch.
    const ScalarType dtype = self.scalar_type();
    const Scalar nothing = is_floating_point(dtype)
                               ? Scalar(std::numeric_limits<double>::quiet_NaN())
                           : dtype == kLong ? Scalar(std::numeric_limits<int64_t>::min())
                           : dtype == kInt  ? Scalar(std::numeric_limits<int32_t>::min())
                                            : Scalar(0);
    return full({}, nothing, self.options());
  }
  const Tensor out = std::get<0>(self.detach().reshape({-1}).median(0, false));
  if (recording(self)) {
    // Shared among the elements of that value, as for max().
    record(out, "MedianBackward0", inputs(self), saving(self, out), [](Backward& b) {
      const Tensor x = b.saved(0).detach(), y = b.saved(1).detach();
      const Tensor chosen = y.isnan().item<bool>() ? x.isnan() : x.eq(y);
      b.grad(0) = chosen * (b.grad_output() / chosen.sum());
    });
  }
  return out;
}

namespace {

// In order, equal values make runs. The longest run wins, the smaller value among runs of one
// length; the position is the last one of that value, as in PyTorch.
Tensor mode_position(const Tensor& self, int64_t dim) {
  const NoGradGuard quiet;
  const int64_t n = self.size(dim);
  const auto [values, order] = first_in_order("mode", self, dim, n, false, true);
  const Tensor changes = values.narrow(dim, 1, n - 1).ne(values.narrow(dim, 0, n - 1));
  const Tensor edge = ones_like(values.narrow(dim, 0, 1), kBool);
  const Tensor is_first = taper::cat({edge, changes}, dim),
               is_last = taper::cat({changes, edge}, dim);
  Dims along(std::vector<int64_t>(static_cast<size_t>(self.dim()), 1));
  along[static_cast<int>(dim)] = n;
  const Tensor position = arange(n, order.options()).reshape(along);
  const Tensor start = std::get<0>((is_first * position).cummax(dim));
  const Tensor length = is_last * (position - start + 1);
  return order.gather(dim, length.argmax(dim, true));
}

}  // namespace

TensorPair mode(const Tensor& self, int64_t dim, bool keepdim) {
  check_defined("mode", self, "self");
  dim = wrap_dim(dim, self.dim());
  check_not_empty("mode", self, dim);
  const Tensor at = self.dim() > 0 ? mode_position(self, dim)
                                   : zeros({}, TensorOptions(kLong).device(self.device()));
  return pick("ModeBackward0", self, at, dim, keepdim);
}

}  // namespace taper::ops
