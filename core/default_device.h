#pragma once

#include "taper/core/device.h"

namespace taper::detail {

/// Where factories put a tensor whose options name no device: the CPU, until this is called. For
/// tests, which take the same programs to every device; it is to be called before any other thread
/// runs.
TAPER_API void set_default_device(Device device);

}  // namespace taper::detail
