#include "taper/kernels/emulator/uninitialized.h"

#include <cstdint>
#include <cstring>

#include "taper/kernels/emulator/sanitizers.h"

namespace taper::emulator {

std::string find_uninitialized_arithmetic(const DeviceMemory& memory) {
  for (const auto& [begin, allocation] : memory.live()) {
    for (size_t offset = 0; offset + 4 <= allocation.bytes; offset += 4) {
      uint32_t low = 0, high = 0;
      std::memcpy(&low, begin + offset, 4);
      if (offset + 8 <= allocation.bytes) std::memcpy(&high, begin + offset + 4, 4);
      const bool is_double = offset % 8 == 0 && (uint64_t{high} << 32 | low) == kComputedDouble;
      if (low != kComputedFloat && !is_double) continue;
      return std::string("computed with memory that nobody has written: the ") +
             (is_double ? "double" : "float") + " at byte " + std::to_string(offset) + " of the " +
             std::to_string(allocation.bytes) + " allocated at " + to_text(allocation.made) +
             " comes of it";
    }
  }
  return {};
}

}  // namespace taper::emulator
