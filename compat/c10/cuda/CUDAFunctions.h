#pragma once

#include "c10/names.h"
#include "taper/core/cuda.h"

namespace c10::cuda {

using ::taper::cuda::current_device;
using ::taper::cuda::device_count;
using ::taper::cuda::set_device;
inline void device_synchronize() { ::taper::cuda::synchronize(); }

}  // namespace c10::cuda
