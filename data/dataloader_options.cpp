#include "taper/data/dataloader_options.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>

#include "taper/core/cuda.h"
#include "taper/core/error.h"

namespace taper::data {

namespace {

constexpr int64_t kMostWorkers = 4096;

// Page-locked memory belongs to CUDA.
bool pin_or_warn(bool wanted) {
  if (wanted && cuda::is_available()) return true;
  if (wanted) {
    static std::once_flag once;
    std::call_once(once, [] {
      std::fputs(
          "Warning: 'pin_memory' is set but no CUDA device is available; batches stay in ordinary "
          "memory.\n",
          stderr);
    });
  }
  return false;
}

std::optional<std::chrono::milliseconds> to_timeout(double seconds) {
  TAPER_CHECK_VALUE(seconds >= 0 && std::isfinite(seconds),
                    "DataLoader: timeout option should be non-negative, but got timeout=", seconds);
  if (seconds == 0) return std::nullopt;
  return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(std::min(seconds, 1e9) * 1000)));
}

}  // namespace

FullDataLoaderOptions::FullDataLoaderOptions(const DataLoaderOptions& options)
    : batch_size(options.batch_size()),
      workers(options.workers()),
      max_jobs(options.max_jobs().value_or(options.prefetch_factor() * options.workers())),
      timeout(options.timeout()),
      enforce_ordering(options.enforce_ordering()),
      drop_last(options.drop_last()),
      pin_memory(pin_or_warn(options.pin_memory())),
      persistent_workers(options.persistent_workers()) {
  TAPER_CHECK_VALUE(
      batch_size > 0 && batch_size <= INT64_MAX,
      "DataLoader: batch_size should be a positive integer value, but got batch_size=",
      static_cast<int64_t>(batch_size));
  TAPER_CHECK_VALUE(workers <= kMostWorkers, "DataLoader: workers should be between 0 and ",
                    kMostWorkers, ", but got workers=", static_cast<int64_t>(workers));
  TAPER_CHECK_VALUE(workers == 0 || max_jobs > 0,
                    "DataLoader: max_jobs should be positive where there are workers");
  TAPER_CHECK_VALUE(!timeout || timeout->count() > 0,
                    "DataLoader: timeout should be positive, but got ",
                    timeout ? int64_t{timeout->count()} : 0, " ms");
}

FullDataLoaderOptions::FullDataLoaderOptions(const LoaderOptions& options)
    : batch_size(static_cast<size_t>(options.batch_size)),
      workers(static_cast<size_t>(options.num_workers)),
      max_jobs(static_cast<size_t>(options.prefetch_factor.value_or(2)) * workers),
      timeout(to_timeout(options.timeout)),
      enforce_ordering(options.in_order),
      drop_last(options.drop_last),
      pin_memory(pin_or_warn(options.pin_memory)),
      persistent_workers(options.persistent_workers) {
  TAPER_CHECK_VALUE(
      options.batch_size > 0,
      "DataLoader: batch_size should be a positive integer value, but got batch_size=",
      options.batch_size);
  TAPER_CHECK_VALUE(options.num_workers >= 0 && options.num_workers <= kMostWorkers,
                    "DataLoader: num_workers option should be non-negative and at most ",
                    kMostWorkers, ", but got num_workers=", options.num_workers);
  TAPER_CHECK_VALUE(options.num_workers > 0 || !options.persistent_workers,
                    "DataLoader: persistent_workers option needs num_workers > 0");
  TAPER_CHECK_VALUE(options.num_workers > 0 || !options.prefetch_factor,
                    "DataLoader: prefetch_factor option needs num_workers > 0");
  TAPER_CHECK_VALUE(
      !options.prefetch_factor ||
          (*options.prefetch_factor > 0 && *options.prefetch_factor < (1 << 20)),
      "DataLoader: prefetch_factor option should be positive, but got prefetch_factor=",
      options.prefetch_factor.value_or(0));
}

}  // namespace taper::data
