#pragma once

#include <library_types.h>

#include "taper/kernels/cuda/blas_api.h"
#include "taper/kernels/cuda/context.h"
#include "taper/kernels/kernels.h"

// A GemmPlan in cuBLAS' words, which cuBLASLt shares.

namespace taper::kernels::cuda {

inline cudaDataType blas_type(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return CUDA_R_16F;
    case kBFloat16:
      return CUDA_R_16BF;
    case kDouble:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

inline blas::Compute compute_of(const GemmPlan& p) {
  if (p.dtype == kDouble) return blas::Compute::kDouble;
  return p.dtype == kFloat && p.tf32 ? blas::Compute::kFloatByTf32 : blas::Compute::kFloat;
}

inline blas::Operation operation(bool transposed) {
  return transposed ? blas::Operation::kTransposed : blas::Operation::kAsStored;
}

/// A factor in the type that the library takes it in.
class Factor {
 public:
  Factor(const GemmPlan& plan, double value)
      : wide_(value), narrow_(static_cast<float>(value)), is_wide_(plan.dtype == kDouble) {}
  const void* get() const { return is_wide_ ? static_cast<const void*>(&wide_) : &narrow_; }

 private:
  double wide_;
  float narrow_;
  bool is_wide_;
};

/// What NVIDIA's guide asks for: 32 MiB from Hopper on, 4 MiB before. The emulator needs none.
inline size_t blas_workspace_bytes(int device) {
  const DeviceProperties& properties = properties_of(device);
  return properties.major >= 9 && !properties.emulated ? size_t{32} << 20 : size_t{4} << 20;
}

}  // namespace taper::kernels::cuda
