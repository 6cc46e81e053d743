#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "taper/core/cuda.h"

// The memory of CUDA devices as torch.cuda reports it. Bytes; -1 is the current device.

namespace taper::cuda {

/// In tensors, now; and the most at once since the start or the last reset.
TAPER_API int64_t memory_allocated(DeviceIndex device = -1);
TAPER_API int64_t max_memory_allocated(DeviceIndex device = -1);
/// Held by the caching allocator, tensors included.
TAPER_API int64_t memory_reserved(DeviceIndex device = -1);
TAPER_API int64_t max_memory_reserved(DeviceIndex device = -1);
TAPER_API void reset_peak_memory_stats(DeviceIndex device = -1);
TAPER_API void reset_accumulated_memory_stats(DeviceIndex device = -1);
/// All counters under PyTorch's names: "allocated_bytes.all.peak", "num_ooms", ...
TAPER_API std::map<std::string, int64_t> memory_stats(DeviceIndex device = -1);
/// The counters as a table.
TAPER_API std::string memory_summary(DeviceIndex device = -1);
/// Free and total memory as the driver sees it, other programs included.
TAPER_API std::pair<int64_t, int64_t> mem_get_info(DeviceIndex device = -1);
/// Gives what no tensor holds back to the driver.
TAPER_API void empty_cache();
/// At most this share of the device's memory for this program, 0 to 1.
TAPER_API void set_per_process_memory_fraction(double fraction, DeviceIndex device = -1);

}  // namespace taper::cuda
