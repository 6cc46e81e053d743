#pragma once

#include <optional>

#include "c10/names.h"
#include "taper/core/cuda.h"
#include "taper/core/tensor.h"

namespace taper {

/// Where a tensor is; nothing for an undefined one. Here, so that it is found without a namespace.
inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor.device()) : std::nullopt;
}

}  // namespace taper

namespace c10 {

/// The current device of its kind while this lives. The CPU is always current.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) : original_(device), current_(device) {
    if (!device.is_cuda()) return;
    reset_device(device);
    original_ = guard_->original_device();
  }
  /// Another one from here on, of any kind.
  void reset_device(Device device) {
    current_ = device;
    if (!device.is_cuda()) return guard_.reset();
    guard_ ? guard_->set_device(device) : static_cast<void>(guard_.emplace(device));
    current_ = guard_->current_device();
  }
  void set_index(DeviceIndex index) { reset_device(Device(current_.type(), index)); }

  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  Device original_, current_;
  std::optional<::taper::cuda::DeviceGuard> guard_;
};

/// A guard only where a device is given: `OptionalDeviceGuard guard(device_of(x))`.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device device) { guard_.emplace(device); }
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  void reset_device(Device device) {
    guard_ ? guard_->reset_device(device) : static_cast<void>(guard_.emplace(device));
  }

  std::optional<Device> original_device() const {
    return guard_ ? std::optional(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_ ? std::optional(guard_->current_device()) : std::nullopt;
  }

 private:
  std::optional<DeviceGuard> guard_;
};

}  // namespace c10

namespace at {

using ::taper::device_of;

}  // namespace at
