#pragma once

#include <string>

#include "taper/kernels/emulator/memory.h"

namespace taper::emulator {

/// Looks through all device memory for results of arithmetic on memory that nobody had written
/// (sanitizers.h says how they can be told), and says where they lie. Empty: none.
std::string find_uninitialized_arithmetic(const DeviceMemory& memory);

}  // namespace taper::emulator
