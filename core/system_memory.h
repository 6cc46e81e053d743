#pragma once

#include <cstdint>
#include <string>

#include "taper/core/macros.h"

namespace taper::detail {

/// Memory that the system can still give, and what decides it: "free on this machine" or a control
/// group.
struct AvailableMemory {
  int64_t bytes = -1;  ///< negative: unknown
  const char* decided_by = "";
};

AvailableMemory available_memory();
/// "1.50 GiB"
TAPER_API std::string readable_bytes(int64_t bytes);
/// Reads "1073741824", "1G", "512M", "64K" (powers of 1024). Negative for anything else.
TAPER_API int64_t parse_bytes(const char* text);
/// Whole processors that the control groups of this process allow; 0: no limit.
int cgroup_cpu_limit();

}  // namespace taper::detail
