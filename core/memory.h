#pragma once

#include <cstdint>

#include "taper/core/macros.h"

// What CPU tensors use, and how much they may use.

namespace taper {

/// In bytes. Tensors of up to 768 bytes come from another source and are not counted.
struct CpuMemoryStats {
  int64_t current = 0;             ///< held by tensors and scratch buffers
  int64_t peak = 0;                ///< highest value of `current` since the start or the last reset
  int64_t cached = 0;              ///< freed, kept for the next allocation of that size
  int64_t allocations = 0;         ///< how often memory was asked for
  int64_t system_allocations = 0;  ///< how often the system had to be asked for it
  int64_t frees = 0;
  int64_t limit = 0;  ///< see set_cpu_memory_limit; 0: none
};

TAPER_API CpuMemoryStats cpu_memory_stats();
TAPER_API void reset_peak_cpu_memory_stats();
/// Gives all cached memory back to the system.
TAPER_API void empty_cpu_cache();
/// Allocations that would take `current` above `bytes` throw OutOfMemoryError; 0: no limit of
/// Taper's own. The environment's TAPER_CPU_MEMORY_LIMIT ("2G", "512M", ...) is the value at the
/// start.
TAPER_API void set_cpu_memory_limit(int64_t bytes);

/// What the system can still give, in bytes: free and reclaimable memory, within the limits of this
/// process's control groups. Negative where the system does not say.
TAPER_API int64_t available_cpu_memory();

}  // namespace taper
