#include "taper/kernels/device.h"

// A device module as another version of Taper might have made it.

extern "C" __attribute__((visibility("default"))) const taper::kernels::DeviceModule*
taper_cuda_module(const taper::kernels::HostServices*) {
  static taper::kernels::DeviceModule module;
  module.abi = taper::kernels::kDeviceAbi;
  module.build_id = "0.0.1-of-long-ago";
  module.kind = "hardware";
  return &module;
}
