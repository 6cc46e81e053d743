#pragma once

#include <cuda_runtime_api.h>

namespace taper::kernels::cuda {

/// Makes a device the current one of this thread while it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    error_ = cudaGetDevice(&before_);
    if (error_ == cudaSuccess && before_ != device) {
      error_ = cudaSetDevice(device);
      changed_ = error_ == cudaSuccess;
    }
  }
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  cudaError_t error() const { return error_; }

 private:
  int before_ = 0;
  bool changed_ = false;
  cudaError_t error_;
};

}  // namespace taper::kernels::cuda

/// Makes `device` the current one until the end of the scope, or leaves the function.
#define TAPER_ON_DEVICE(device)                                                   \
  const ::taper::kernels::cuda::DeviceGuard taper_guard_(device);                 \
  if (taper_guard_.error() != cudaSuccess) {                                      \
    return ::taper::kernels::cuda::failed("cudaSetDevice", taper_guard_.error()); \
  }
