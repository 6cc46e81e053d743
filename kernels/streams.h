#pragma once

#include "taper/core/device.h"
#include "taper/kernels/kernels.h"

namespace taper::kernels {

/// This thread's current stream of a CUDA device.
TAPER_API Stream current_cuda_stream(DeviceIndex device);

}  // namespace taper::kernels
