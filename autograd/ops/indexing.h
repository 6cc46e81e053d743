#pragma once

#include <vector>

#include "taper/autograd/ops/op.h"

// What the indexing ops share; nothing here is public.

namespace taper::ops {

/// An index tensor (int64) for each indexed dimension of a tensor, in the order of dimensions.
struct DimIndices {
  std::vector<int64_t> dims;
  std::vector<Tensor> indices;

  bool empty() const { return dims.empty(); }
  void add(int64_t dim, const Tensor& index) {
    dims.push_back(dim);
    indices.push_back(index);
  }
};

/// self[..., index, ...]: the index tensors broadcast together, and their shape takes the place of
/// the indexed dimensions where these are neighbours, else it comes first. Negative indices count
/// from the end.
Tensor index_get(const Tensor& self, const DimIndices& at, const char* op = "index");
/// self[..., index, ...] = values, which broadcast to the shape that index_get gives; or += with
/// `accumulate`, where an element that is named twice gets both.
void index_put(Tensor& self, const DimIndices& at, const Tensor& values, bool accumulate = false,
               const char* op = "index_put_");
/// A tensor of zeros of shape `sizes` to which `values` are added at the places of index_get: its
/// gradient.
Tensor index_scatter(IntArrayRef sizes, const DimIndices& at, const Tensor& values);

// The ops of these names, for another one: messages name `op`, see Stream::op.
Tensor gather_for(const char* op, const Tensor& self, int64_t dim, const Tensor& index);
Tensor index_select_for(const char* op, const Tensor& self, int64_t dim, const Tensor& index);
Tensor& scatter_for(const char* op, Tensor& self, int64_t dim, const Tensor& index,
                    const Scalar& value);

/// Throws unless the kernel succeeded; an index out of range is one along dimension `dim`.
inline void check_along(const kernels::Status& status, const char* op, int64_t dim) {
  TAPER_CHECK_INDEX(status.code != kernels::Code::kIndexOutOfRange, kernels::index_of_op(op), " ",
                    status.value, " is out of bounds for dimension ", dim, " with size ",
                    status.limit);
  check(status, op);
}

/// The elements in row-major order, as kernels want them; not recorded.
inline Tensor row_major(const Tensor& self) {
  return self.is_contiguous() ? self : self.detach().contiguous();
}

/// What an op writes to `target` through a row-major tensor; where `target` is none, through a
/// copy.
template <class Write>
void write_row_major(const Tensor& target, const Write& write) {
  const Tensor dense = row_major(target);
  write(dense);
  if (!dense.is_same(target)) copy_values(target, dense);
}

/// Records that `values` are elements of self picked along `dim`, at the positions `indices`.
void record_selected(const char* name, const Tensor& self, const Tensor& values,
                     const Tensor& indices, int64_t dim, bool keepdim);

}  // namespace taper::ops
