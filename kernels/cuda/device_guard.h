#pragma once

#include <cuda_runtime_api.h>

namespace taper::kernels::cuda {

/// Whether this process has a context on the device, from its first use on. To make one takes
/// hundreds of megabytes of a card's memory, and cudaSetDevice makes one.
bool has_context(int device);

/// Makes a device the current one of this thread while it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    error_ = cudaGetDevice(&before_);
    if (error_ != cudaSuccess || (before_ == device && is_bound())) return;
    error_ = cudaSetDevice(device);
    if (error_ != cudaSuccess) return;
    is_bound() = true;
    changed_ = before_ != device;
  }
  // A thread that never chose is on device 0; that is not worth a context there.
  ~DeviceGuard() {
    if (changed_ && has_context(before_)) cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  cudaError_t error() const { return error_; }

 private:
  // A new thread is on device 0 without a context bound, which cuBLAS and cuDNN do not bear.
  static bool& is_bound() {
    // Found at run time: a plugin that wants its thread's memory beside the program's own, as the
    // library's code does for speed, is not loaded once that is full, and the runtime's is large.
    [[gnu::tls_model("global-dynamic")]] thread_local bool bound = false;
    return bound;
  }

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
