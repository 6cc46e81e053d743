#pragma once

#include <string>

#include "taper/core/device.h"
#include "taper/kernels/device.h"

// The CUDA module: found, loaded and checked once, at the first call that needs it.

namespace taper::kernels {

/// The module, or a NotImplementedError that says why there is none; `what` needs it.
TAPER_API const DeviceModule& cuda_module(const char* what);
/// The module or null, and why.
TAPER_API const DeviceModule* find_cuda_module(std::string* why = nullptr);
/// Whether it has been loaded already: nothing that only cleans up loads it.
TAPER_API bool cuda_module_is_loaded();
/// Number of devices; throws as cuda_module does when there is none.
TAPER_API int cuda_device_count(const char* what);

/// Throws unless `memory` is the device's. `what` is given it by a program.
TAPER_API void check_memory_of(const void* memory, Device device, const char* what);

/// Throws unless a call of the runtime succeeded.
[[noreturn]] TAPER_API TAPER_COLD void fail_runtime(const Status& status, const char* what,
                                                    Device device);
inline void check_runtime(const Status& status, const char* what, Device device) {
  if (TAPER_UNLIKELY(!status.ok())) fail_runtime(status, what, device);
}

}  // namespace taper::kernels
