#pragma once

#include "taper/core/cuda_memory.h"

namespace c10::cuda::CUDACachingAllocator {

inline void emptyCache() { ::taper::cuda::empty_cache(); }
inline void resetPeakStats(int device) {
  ::taper::cuda::reset_peak_memory_stats(static_cast<::taper::DeviceIndex>(device));
}

}  // namespace c10::cuda::CUDACachingAllocator
