#pragma once

#include <string>

#include "taper/core/device.h"

// What a program asks about CUDA before it chooses a device. This version of Taper has the CPU's
// kernels only: the questions are answered truthfully, and asking for the device itself throws.

namespace taper::cuda {

/// Whether tensors can live on a CUDA device.
TAPER_API bool is_available();
/// Number of CUDA devices; 0 where none can be used.
TAPER_API DeviceIndex device_count();
TAPER_API bool cudnn_is_available();
/// Waits for the work of a device (-1: the current one). Throws where there is none.
TAPER_API void synchronize(int64_t device_index = -1);
/// Seeds the generators of all CUDA devices; without any, nothing happens.
TAPER_API void manual_seed(uint64_t seed);
TAPER_API void manual_seed_all(uint64_t seed);
/// Why is_available() is false, in one sentence; empty when it is true.
TAPER_API std::string why_not_available();

}  // namespace taper::cuda
