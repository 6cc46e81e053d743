#pragma once

#include "c10/names.h"
#include "taper/core/cuda.h"

namespace c10::cuda {

using ::taper::cuda::current_device;
using ::taper::cuda::device_count;
using ::taper::cuda::set_device;
inline void device_synchronize() { ::taper::cuda::synchronize(); }
/// Makes a device the current one, and tells which was before.
inline DeviceIndex ExchangeDevice(DeviceIndex device) {
  const DeviceIndex before = current_device();
  set_device(device);
  return before;
}

}  // namespace c10::cuda
