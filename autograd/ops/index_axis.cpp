// Rows along one dimension, picked or changed by a vector of indices: index_select, index_add and
// the like, and embedding.

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

namespace {

using kernels::IndexAxisArgs;
using kernels::ScatterOp;

void check_vector(const char* op, const Tensor& index) {
  check_defined(op, index, "index");
  TAPER_CHECK_INDEX(index.dim() <= 1, op,
                    "(): Index is supposed to be a vector, but got dim: ", index.dim());
  TAPER_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, op,
              "(): Expected dtype int32 or int64 for index, but got ", index.scalar_type());
}

// Of a dense tensor of shape `sizes`.
IndexAxisArgs axis_args(const Tensor& self, int64_t dim, const Tensor& index) {
  const auto axis = kernels::make_axis_plan(static_cast<int>(self.dim()), self.sizes().data(),
                                            static_cast<int>(dim));
  return {self.scalar_type(), index.scalar_type(), axis.outer,      axis.size,
          axis.inner,         index.numel(),       index.data_ptr()};
}

// `sizes` with `count` along dim; a 0-dim tensor stays one.
Dims with_count(IntArrayRef sizes, int64_t dim, int64_t count) {
  Dims out(sizes);
  if (out.size() > 0) out[static_cast<int>(dim)] = count;
  return out;
}

// Checks what index_add_ and index_copy_ have in common; returns the wrapped dim.
int64_t check_update(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& source) {
  check_defined(op, self, "self");
  check_defined(op, source, "source");
  check_vector(op, index);
  check_same_device(op, self, index);
  check_same_device(op, self, source);
  dim = wrap_dim(dim, self.dim());
  TAPER_CHECK(self.scalar_type() == source.scalar_type(), op, "(): self (", self.scalar_type(),
              ") and source (", source.scalar_type(), ") must have the same scalar type");
  TAPER_CHECK(self.dim() == source.dim() || source.dim() == 0, op,
              "(): self and source must have the same number of dimensions, but got ", self.sizes(),
              " and ", source.sizes());
  const int64_t rows = source.dim() == 0 ? 1 : source.size(dim);
  TAPER_CHECK_INDEX(index.numel() == rows, op, "(): Number of indices (", index.numel(),
                    ") should be equal to source.size(dim): (", rows, "), for dim: ", dim);
  TAPER_CHECK(source.dim() == 0 ? self.numel() == (self.dim() == 0 ? 1 : self.size(dim))
                                : source.sizes().equals(with_count(self.sizes(), dim, rows)),
              op, "(): source shape ", source.sizes(), " must match self shape ", self.sizes(),
              ", except in dimension ", dim);
  return dim;
}

void update_rows(const char* op, ScatterOp kind, const Tensor& self, int64_t dim,
                 const Tensor& index, const Tensor& source, Value alpha) {
  const Tensor rows = source.is_alias_of(self) ? source.detach().clone(MemoryFormat::Contiguous)
                                               : row_major(source);
  const Tensor at = row_major(index.is_alias_of(self) ? index.detach().clone() : index);
  write_row_major(self, [&](const Tensor& dense) {
    check_along(
        kernels_of(self).index_update(kind, dense.data_ptr(), rows.data_ptr(),
                                      axis_args(dense, dim, at), alpha, -1, stream_of(self, op)),
        op, dim);
  });
  finish_write(self);
}

Tensor copy_of(const Tensor& self) { return self.clone(MemoryFormat::Contiguous); }

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return index_select_for("index_select", self, dim, index);
}

Tensor index_select_for(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  check_defined(op, self, "self");
  check_vector(op, index);
  check_same_device(op, self, index);
  dim = wrap_dim(dim, self.dim());
  TAPER_CHECK_INDEX(self.dim() > 0 || index.numel() == 1,
                    "index_select(): Index to scalar can have only 1 value, got ", index.numel());
  const Tensor rows = row_major(self), at = row_major(index);
  const Tensor out = new_result(with_count(self.sizes(), dim, index.numel()), self.scalar_type(),
                                self.device(), op);
  check_along(kernels_of(self).index_select(out.data_ptr(), rows.data_ptr(),
                                            axis_args(rows, dim, at), stream_of(self, op)),
              op, dim);
  if (recording(self)) {
    record(out, "IndexSelectBackward0", inputs(self), saving(at),
           [sizes = Dims(self.sizes()), dim](Backward& b) {
             const Tensor& g = b.grad_output();
             b.grad(0) = zeros(sizes, g.options()).index_add_(dim, b.saved(0), g);
           });
  }
  return out;
}

Tensor& index_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                   const Scalar& alpha) {
  dim = check_update("index_add_", self, dim, index, source);
  TAPER_CHECK(is_floating_point(self.scalar_type()) || alpha.isIntegral(true),
              "For integral input tensors, argument alpha must not be a floating point number.");
  begin_inplace("index_add_", self);
  update_rows("index_add_", ScatterOp::kAdd, self, dim, index, source,
              value_of(alpha, self.scalar_type()));
  if (recording(self, source)) {
    record_inplace(self, "IndexAddBackward0", inputs(self, source),
                   saving(when(source.requires_grad(), index)),
                   [dim, alpha, shape = Dims(source.sizes())](Backward& b) {
                     const Tensor& g = b.grad_output();
                     if (b.wants(0)) b.grad(0) = g;
                     if (b.wants(1)) {
                       const Tensor rows = g.index_select(dim, b.saved(0)).reshape(shape);
                       b.grad(1) = alpha.equal(1) ? rows : rows * alpha;
                     }
                   });
  }
  return self;
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  return copy_of(self).index_add_(dim, index, source, alpha);
}

Tensor& index_copy_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  dim = check_update("index_copy_", self, dim, index, source);
  begin_inplace("index_copy_", self);
  update_rows("index_copy_", ScatterOp::kAssign, self, dim, index, source, Value(1));
  if (recording(self, source)) {
    record_inplace(self, "IndexCopyBackward0", inputs(self, source), saving(index),
                   [dim, shape = Dims(source.sizes())](Backward& b) {
                     const Tensor &g = b.grad_output(), index = b.saved(0);
                     if (b.wants(0)) b.grad(0) = g.index_fill(dim, index, 0);
                     if (b.wants(1)) b.grad(1) = g.index_select(dim, index).reshape(shape);
                   });
  }
  return self;
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  return copy_of(self).index_copy_(dim, index, source);
}

Tensor& index_fill_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_defined("index_fill_", self, "self");
  check_vector("index_fill_", index);
  check_same_device("index_fill_", self, index);
  dim = wrap_dim(dim, self.dim());
  Tensor rows = self.dim() > 0 ? self : self.view({1});
  DimIndices at;
  at.add(dim, cast(index, kLong).reshape({-1}));
  index_put(rows, at, full({}, value, self.options()), false, "index_fill_");
  return self;
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return copy_of(self).index_fill_(dim, index, value);
}

// ---- Embedding: rows of a table, and how often each was asked for.

namespace {

// Gradient of the table: each row receives the gradients of the places it was copied to.
Tensor embedding_gradient(const Tensor& gradient, const Tensor& indices, int64_t rows,
                          int64_t padding_idx, bool scale_grad_by_freq) {
  const int64_t width = gradient.size(-1);
  Tensor g = gradient.reshape({indices.numel(), width});
  if (scale_grad_by_freq && indices.numel() > 0) {
    const Tensor counts = cast(indices, kLong).bincount(std::nullopt, rows);
    g = g / counts.index_select(0, indices).unsqueeze(1);
  }
  const Tensor out = zeros({rows, width}, gradient.options());
  if (autograd::grad_enabled()) {
    if (padding_idx >= 0) g = g.masked_fill(indices.eq(padding_idx).unsqueeze(1), 0);
    return out.index_add_(0, indices, g);
  }
  g = g.contiguous();
  check(kernels_of(out).index_update(ScatterOp::kAdd, out.data_ptr(), g.data_ptr(),
                                     axis_args(out, 0, indices), Value(1), padding_idx,
                                     stream_of(out, "embedding")),
        "embedding");
  return out;
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                 bool scale_grad_by_freq, bool sparse) {
  check_defined("embedding", weight, "weight");
  check_defined("embedding", indices, "indices");
  TAPER_CHECK(weight.dim() == 2, "'weight' must be 2-D, but got shape ", weight.sizes());
  TAPER_CHECK(!sparse, "embedding: sparse gradients are not supported; leave `sparse` false");
  TAPER_CHECK(
      indices.scalar_type() == kLong || indices.scalar_type() == kInt,
      "Expected tensor for argument 'indices' to have one of the following scalar types: Long, "
      "Int; but got ",
      indices.scalar_type(), " instead (while checking arguments for embedding)");
  check_same_device("embedding", weight, indices);
  Dims shape(indices.sizes());
  shape.push_back(weight.size(1));
  const Tensor flat = row_major(indices).reshape({-1}), rows = row_major(weight);
  const Tensor out = new_result(shape, weight.scalar_type(), weight.device(), "embedding");
  check_along(kernels_of(out).index_select(out.data_ptr(), rows.data_ptr(),
                                           axis_args(rows, 0, flat), stream_of(out, "embedding")),
              "embedding", 0);
  if (recording(weight)) {
    record(out, "EmbeddingBackward0", inputs(weight), saving(flat),
           [count = weight.size(0), padding_idx, scale_grad_by_freq](Backward& b) {
             b.grad(0) = embedding_gradient(b.grad_output(), b.saved(0), count, padding_idx,
                                            scale_grad_by_freq);
           });
  }
  return out;
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  check_defined("one_hot", self, "self");
  TAPER_CHECK(self.scalar_type() == kLong,
              "one_hot is only applicable to index tensor of type Long, but got ",
              self.scalar_type());
  TAPER_CHECK(num_classes >= -1 && num_classes != 0, "num_classes should be positive, but got ",
              num_classes);
  if (self.numel() == 0) {
    TAPER_CHECK(num_classes > 0, "Can not infer total number of classes from empty tensor.");
  } else if (self.is_cpu() || num_classes == -1) {  // elsewhere the question would wait
    TAPER_CHECK(self.min().item<int64_t>() >= 0, "Class values must be non-negative.");
    const int64_t largest = self.max().item<int64_t>();
    if (num_classes == -1) {
      TAPER_CHECK(largest < INT64_MAX,
                  "one_hot: Storage size calculation overflowed: the largest "
                  "class is ",
                  largest);
      num_classes = largest + 1;
    }
    TAPER_CHECK(largest < num_classes, "Class values must be smaller than num_classes.");
  }
  Dims shape(self.sizes());
  shape.push_back(num_classes);
  Tensor out = zeros(shape, self.options());
  return scatter_for("one_hot: Class value", out, -1, self.unsqueeze(-1), 1);
}

}  // namespace taper::ops
