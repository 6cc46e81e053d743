#pragma once

#include <optional>

#include "c10/core/DeviceGuard.h"
#include "c10/cuda/CUDAStream.h"

namespace c10::cuda {

using CUDAGuard = ::taper::cuda::DeviceGuard;
using CUDAStreamGuard = ::taper::cuda::StreamGuard;

/// A guard only where a device is given: `OptionalCUDAGuard guard(at::device_of(x))`. A tensor on
/// the CPU changes nothing.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device && device->is_cuda()) set_device(*device);
  }
  explicit OptionalCUDAGuard(DeviceIndex device) { set_index(device); }

  void set_device(Device device) {
    guard_ ? guard_->set_device(device) : static_cast<void>(guard_.emplace(device));
  }
  void reset_device(Device device) { set_device(device); }
  void set_index(DeviceIndex device) { set_device(Device(kCUDA, device)); }
  /// Brings back the device that was current before the guard.
  void reset() { guard_.reset(); }
  std::optional<Device> original_device() const {
    return guard_ ? std::optional(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_ ? std::optional(guard_->current_device()) : std::nullopt;
  }

 private:
  std::optional<CUDAGuard> guard_;
};

}  // namespace c10::cuda

namespace at::cuda {

using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::OptionalCUDAGuard;

}  // namespace at::cuda
