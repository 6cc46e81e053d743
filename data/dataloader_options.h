#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "taper/core/generator.h"

namespace taper::data {

/// LibTorch's options, for `make_data_loader`: `DataLoaderOptions().batch_size(64).workers(2)`.
class DataLoaderOptions {
 public:
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}

// A setter that chains, and a getter.
// clang-format off
#define TAPER_LOADER_OPTION(type, name, initial) \
  DataLoaderOptions& name(type value) {          \
    name##_ = value;                             \
    return *this;                                \
  }                                              \
  const type& name() const { return name##_; }   \
                                                 \
 private:                                        \
  type name##_ = initial;                        \
                                                 \
 public:
  // clang-format on

  TAPER_LOADER_OPTION(size_t, batch_size, 1)
  /// Threads that load; 0 loads in the calling thread.
  TAPER_LOADER_OPTION(size_t, workers, 0)
  /// Batches under way at once; prefetch_factor for each worker if not given.
  TAPER_LOADER_OPTION(std::optional<size_t>, max_jobs, std::nullopt)
  /// Batches that each worker prepares ahead.
  TAPER_LOADER_OPTION(size_t, prefetch_factor, 2)
  /// How long to wait for a batch before its worker is given up.
  TAPER_LOADER_OPTION(std::optional<std::chrono::milliseconds>, timeout, std::nullopt)
  /// Batches come in the sampler's order; false: as they are ready.
  TAPER_LOADER_OPTION(bool, enforce_ordering, true)
  /// Leaves out a last batch that is not full.
  TAPER_LOADER_OPTION(bool, drop_last, false)
  /// Batches are put into page-locked memory, for copies to a GPU.
  TAPER_LOADER_OPTION(bool, pin_memory, false)
  /// The threads live from epoch to epoch.
  TAPER_LOADER_OPTION(bool, persistent_workers, true)

#undef TAPER_LOADER_OPTION

  /// Python's name of `workers`.
  DataLoaderOptions& num_workers(size_t value) { return workers(value); }
};

/// Python's options, for `DataLoader`: `{.batch_size = 256, .shuffle = true, .num_workers = 2}`.
struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  int64_t num_workers = 0;  ///< threads that load; 0 loads in the calling thread
  bool pin_memory = false;  ///< batches in page-locked memory, for copies to a GPU
  bool drop_last = false;   ///< leaves out a last batch that is not full
  double timeout = 0;  ///< seconds to wait for a batch before its worker is given up; 0: for ever
  std::optional<Generator> generator = std::nullopt;  ///< for the order; the default one otherwise
  std::optional<int64_t> prefetch_factor = std::nullopt;  ///< batches ahead per worker; 2
  bool persistent_workers = false;                        ///< the threads live from epoch to epoch
  bool in_order = true;                                   ///< false: batches come as they are ready
};

/// The options with every default filled in; checks them.
struct TAPER_API FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options);
  explicit FullDataLoaderOptions(const LoaderOptions& options);

  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
  bool pin_memory;
  bool persistent_workers;
};

}  // namespace taper::data
