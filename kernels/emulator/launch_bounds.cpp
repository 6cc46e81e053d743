#include <algorithm>
#include <cstdint>
#include <vector>

#include "taper/kernels/emulator/device.h"

// What a kernel's __launch_bounds__ says, found by its address (device.h).

// The linker's names for where the section begins and ends in this library or program; null where
// nothing in it has a launch bound.
extern "C" {
[[gnu::weak,
  gnu::visibility("hidden")]] extern const uintptr_t __start___patchable_function_entries[];
[[gnu::weak,
  gnu::visibility("hidden")]] extern const uintptr_t __stop___patchable_function_entries[];
}

namespace taper::emulator {

unsigned launch_bound(const void* kernel) {
  static const auto* const entries = [] {
    auto* const sorted = new std::vector<uintptr_t>(__start___patchable_function_entries,
                                                    __stop___patchable_function_entries);
    std::sort(sorted->begin(), sorted->end());
    return sorted;
  }();
  const auto address = reinterpret_cast<uintptr_t>(kernel);
  const auto next = std::upper_bound(entries->begin(), entries->end(), address);
  if (next == entries->begin()) return 0;
  const auto* const first = reinterpret_cast<const unsigned char*>(*std::prev(next));
  const auto* const end = static_cast<const unsigned char*>(kernel);
  // 0x90 is a no-op. Anything else in between: they belong to another kernel.
  const auto is_no_op = [](unsigned char byte) { return byte == 0x90; };
  if (end - first > 32 || !std::all_of(first, end, is_no_op)) return 0;
  return static_cast<unsigned>(end - first) * 32;
}

}  // namespace taper::emulator
