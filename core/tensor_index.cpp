#include "taper/core/tensor_index.h"

#include <utility>

#include "taper/core/tensor.h"

namespace taper {

TensorIndex::TensorIndex(const Tensor& tensor)
    : kind_(Kind::kTensor), tensor_(new Tensor(tensor)) {}

TensorIndex::TensorIndex(const TensorIndex& other)
    : kind_(other.kind_),
      integer_(other.integer_),
      slice_(other.slice_),
      tensor_(other.tensor_ ? new Tensor(*other.tensor_) : nullptr) {}

TensorIndex& TensorIndex::operator=(const TensorIndex& other) {
  TensorIndex copy(other);
  std::swap(kind_, copy.kind_);
  std::swap(integer_, copy.integer_);
  std::swap(slice_, copy.slice_);
  std::swap(tensor_, copy.tensor_);
  return *this;
}

TensorIndex::~TensorIndex() { delete tensor_; }

}  // namespace taper
