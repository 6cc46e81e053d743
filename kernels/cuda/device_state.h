#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "taper/kernels/cuda/allocator.h"
#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device_guard.h"

namespace taper::kernels::cuda {

constexpr int kMaxDevices = 64;

/// What the module holds of a device, from its first use on.
class DeviceState {
 public:
  explicit DeviceState(int device) : device(device), cache(device) {}
  ~DeviceState();
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  Status make();

  /// What kernels flagged since the last time, if anything, and makes room for the next. To be
  /// called when the work in question has been waited for.
  Status take_fault();
  /// Lets this device read and write the other's memory directly, where the hardware can.
  Status enable_peer(int peer);

  const int device;
  cudaStream_t stream = nullptr;  ///< the default one
  DeviceFault* fault = nullptr;
  DeviceFault* fault_on_host = nullptr;
  DeviceCache cache;

 private:
  std::mutex mutex_;
  std::set<int> peers_;
};

Status state_of(int device, DeviceState** state);
/// Null where the device has not been used.
DeviceState* known_state_of(int device);

/// Gives all that the module holds back to the driver, used or not. For tests: the module starts
/// over afterwards.
void shut_down();

}  // namespace taper::kernels::cuda
