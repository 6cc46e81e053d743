#pragma once

#include "taper/core/tensor.h"

namespace taper::autograd {

/// Where a strided tensor lies in its storage.
struct Geometry {
  Dims sizes, strides;
  int64_t offset = 0;

  Geometry() = default;
  explicit Geometry(const TensorImpl& impl)
      : sizes(impl.sizes), strides(impl.strides), offset(impl.offset) {}

  /// Number of elements from the offset to the last one reached; 0 when there are none.
  int64_t extent() const {
    int64_t last = 0;
    for (int d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 0) return 0;
      last += (sizes[d] - 1) * strides[d];
    }
    return last + 1;
  }
};

/// The gradient of as_strided: a tensor with the base's geometry, `grad` at the places that the
/// view reaches and zero elsewhere.
Tensor scatter_strided(const Tensor& grad, const Geometry& base, const Geometry& view);

}  // namespace taper::autograd
