// gather and scatter: one element along a dimension for each place of an index tensor. take,
// take_along_dim.

#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

namespace {

using kernels::GatherArgs;
using kernels::ScatterOp;

// A 0-dim tensor behaves as one of shape [1].
int64_t size_or_one(const Tensor& tensor, int64_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.size(dim);
}
int64_t rank_or_one(const Tensor& tensor) { return std::max<int64_t>(1, tensor.dim()); }

Tensor check_gather_index(const char* op, const Tensor& self, const Tensor& index) {
  check_defined(op, self, "self");
  check_defined(op, index, "index");
  check_same_device(op, self, index);
  TAPER_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, op,
              "(): Expected dtype int32/int64 for index, but got ", index.scalar_type());
  TAPER_CHECK(index.numel() == 0 || rank_or_one(self) == rank_or_one(index),
              "Index tensor must have the same number of dimensions as ",
              op[0] == 'g' ? "input" : "self", " tensor, but got index ", index.sizes(),
              " and self ", self.sizes(), " (", op, ")");
  return cast(index.detach(), kLong);
}

// `values`: written by gather, read by scatter; null where a number is scattered.
GatherArgs make_args(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* values) {
  GatherArgs args;
  args.dtype = self.scalar_type();
  args.self = self.data_ptr();
  args.values = values ? values->data_ptr() : nullptr;
  args.index = index.data_ptr<int64_t>();
  args.size = size_or_one(self, dim);
  args.stride = self.dim() == 0 ? 1 : self.stride(dim);
  args.scalar_source = values == nullptr;
  args.op = ScatterOp::kAssign;
  // Shapes [] and [1] may meet; neither has a dimension that the plan would walk.
  const int rank = static_cast<int>(index.dim());
  int64_t self_strides[kernels::kMaxRank] = {}, value_strides[kernels::kMaxRank] = {};
  for (int d = 0; d < rank; ++d) {
    if (d != dim && self.dim() > 0) self_strides[d] = self.stride(d);
    if (values && values->dim() > 0) value_strides[d] = values->stride(d);
  }
  kernels::make_elementwise_plan<2>(args.plan, rank, index.sizes().data(),
                                    {value_strides, index.strides().data(), self_strides});
  return args;
}

void check_scatter_shapes(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                          const Tensor* src) {
  if (src) {
    TAPER_CHECK(
        rank_or_one(*src) == rank_or_one(index),
        "Index tensor must have the same number of dimensions as src tensor, but got index ",
        index.sizes(), " and src ", src->sizes(), " (", op, ")");
  }
  for (int64_t d = 0; d < rank_or_one(index); ++d) {
    const int64_t count = size_or_one(index, d);
    const bool fits =
        (d == dim || count <= size_or_one(self, d)) && (!src || count <= size_or_one(*src, d));
    if (src) {
      TAPER_CHECK(fits, "Expected index ", index.sizes(), " to be no larger than self ",
                  self.sizes(), " apart from dimension ", dim,
                  " and to be no larger size than src ", src->sizes());
    } else {
      TAPER_CHECK(fits, "Expected index ", index.sizes(), " to be no larger than self ",
                  self.sizes(), " apart from dimension ", dim);
    }
  }
}

// Gradient of src: what was gathered, in the corner of src that the index covers.
Tensor source_gradient(const Tensor& g, int64_t dim, const Tensor& index, const Dims& src_sizes) {
  const Tensor picked = g.gather(dim, index);
  if (picked.sizes().equals(src_sizes)) return picked;
  const Tensor whole = zeros(src_sizes, g.options());
  Tensor corner = whole;
  for (int64_t d = 0; d < whole.dim(); ++d) corner = corner.narrow(d, 0, size_or_one(picked, d));
  corner.copy_(picked.reshape(corner.sizes()));
  return whole;
}

// Writes to self at the places of the index: `src`, or the number where it is null.
Tensor& scatter_into(const char* op, ScatterOp kind, Tensor& self, int64_t dim, const Tensor& given,
                     const Tensor* src, const Scalar& value) {
  dim = wrap_dim(dim, self.dim());
  Tensor index = check_gather_index(op, self, given);
  if (src) {
    check_defined(op, *src, "src");
    check_same_device(op, self, *src);
    TAPER_CHECK(self.scalar_type() == src->scalar_type(), op,
                "(): Expected self.dtype to be equal to src.dtype, but got ", self.scalar_type(),
                " and ", src->scalar_type());
  }
  if (index.numel() == 0) return self;
  check_scatter_shapes(op, self, dim, index, src);
  if (index.is_alias_of(self)) index = index.clone();
  Tensor values;
  if (src) values = src->is_alias_of(self) ? src->detach().clone() : *src;
  begin_inplace(op, self);
  GatherArgs args = make_args(self, dim, index, src ? &values : nullptr);
  args.op = kind;
  args.scalar = src ? Value() : value_of(value, self.scalar_type());
  check_along(kernels_of(self).scatter(args, stream_of(self, op)), op, dim);
  finish_write(self);
  if (!(src ? recording(self, *src) : recording(self))) return self;
  const bool adds = kind == ScatterOp::kAdd;
  const char* const name = adds  ? "ScatterAddBackward0"
                           : src ? "ScatterBackward0"
                                 : "ScatterBackward1";
  record_inplace(self, name, inputs(self, src), saving(index),
                 [dim, adds, src_sizes = src ? Dims(src->sizes()) : Dims()](Backward& b) {
                   const Tensor &g = b.grad_output(), index = b.saved(0);
                   if (b.wants(0)) b.grad(0) = adds ? g : g.scatter(dim, index, 0);
                   if (b.wants(1)) b.grad(1) = source_gradient(g, dim, index, src_sizes);
                 });
  return self;
}

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) {
  return gather_for("gather", self, dim, index);
}

Tensor gather_for(const char* op, const Tensor& self, int64_t dim, const Tensor& given) {
  const Tensor index = check_gather_index(op, self, given);
  dim = wrap_dim(dim, self.dim());
  const Tensor out = new_result(index.sizes(), self.scalar_type(), self.device(), op);
  if (index.numel() > 0) {
    for (int64_t d = 0; d < rank_or_one(index); ++d) {
      TAPER_CHECK(d == dim || size_or_one(index, d) <= size_or_one(self, d),
                  "Size does not match at dimension ", d, " expected index ", index.sizes(),
                  " to be no larger than self ", self.sizes(), " apart from dimension ", dim);
    }
    check_along(kernels_of(self).gather(make_args(self, dim, index, &out), stream_of(self, op)), op,
                dim);
  }
  if (recording(self)) {
    record(out, "GatherBackward0", inputs(self), saving(index),
           [sizes = Dims(self.sizes()), dim](Backward& b) {
             const Tensor& g = b.grad_output();
             b.grad(0) = zeros(sizes, g.options()).scatter_add_(dim, b.saved(0), g);
           });
  }
  return out;
}

Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scatter_into("scatter", ScatterOp::kAssign, self, dim, index, &src, 0);
}
Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return scatter_into("scatter", ScatterOp::kAssign, self, dim, index, nullptr, value);
}
Tensor& scatter_for(const char* op, Tensor& self, int64_t dim, const Tensor& index,
                    const Scalar& value) {
  return scatter_into(op, ScatterOp::kAssign, self, dim, index, nullptr, value);
}
Tensor& scatter_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scatter_into("scatter_add", ScatterOp::kAdd, self, dim, index, &src, 0);
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return self.clone().scatter_(dim, index, src);
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return self.clone().scatter_(dim, index, value);
}
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return self.clone().scatter_add_(dim, index, src);
}

// ---- Elements by their place in the flattened tensor; along a dimension with broadcasting.

Tensor take(const Tensor& self, const Tensor& index) {
  check_defined("take", self, "self");
  check_defined("take", index, "index");
  check_same_device("take", self, index);
  TAPER_CHECK(index.scalar_type() == kLong, "take(): Expected a long tensor for index, but got ",
              index.scalar_type());
  DimIndices at;
  at.add(0, index.detach());
  return index_get(self.reshape({-1}), at, "take");
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  constexpr const char* kName = "take_along_dim";
  check_defined(kName, self, "self");
  check_defined(kName, indices, "indices");
  if (!dim) return gather_for(kName, self.reshape({-1}), 0, indices.reshape({-1}));
  TAPER_CHECK(
      self.dim() == indices.dim(),
      "torch.take_along_dim(): input and indices should have the same number of dimensions, but "
      "got ",
      self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t axis = wrap_dim(*dim, self.dim());
  Dims self_sizes(self.sizes()), index_sizes(indices.sizes());
  if (self.dim() > 0) {
    self_sizes[static_cast<int>(axis)] = index_sizes[static_cast<int>(axis)] = 1;
    const Dims common = infer_size(self_sizes, index_sizes, kName);
    self_sizes = index_sizes = common;
    self_sizes[static_cast<int>(axis)] = self.size(axis);
    index_sizes[static_cast<int>(axis)] = indices.size(axis);
  }
  return gather_for(kName, self.expand(self_sizes), axis, indices.expand(index_sizes));
}

}  // namespace taper::ops
