#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace taper::data::detail {

/// One batch to be made. `run` gets the worker's own dataset.
struct LoadJob {
  std::function<std::shared_ptr<void>(void* dataset)> run;
  std::vector<size_t>
      samples;  ///< their indices, for messages; empty where requests are something else
  uint64_t seed = 0, epoch = 0, batch = 0;
};

struct LoadResult {
  std::shared_ptr<void> batch;
  std::exception_ptr exception;
  std::string where;  ///< "worker 1, batch 3, sample 17"
};

/// Threads that make batches ahead of their use. What they touch is owned jointly with them, so
/// that a thread that never comes back can be left alone.
class Prefetcher {
 public:
  Prefetcher(std::vector<std::shared_ptr<void>> datasets, bool ordered,
             std::optional<std::chrono::milliseconds> timeout);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  void push(LoadJob job);
  /// Pushed and not yet popped.
  size_t in_flight() const { return in_flight_; }
  /// The next result; in the order of the jobs if `ordered`. Throws TimeoutError: then only
  /// destruction is left.
  LoadResult pop();
  /// Forgets everything that is under way; what a worker is in the middle of is dropped when it is
  /// done.
  void drop();

 private:
  struct Shared;

  [[noreturn]] void fail_timeout();

  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
  bool ordered_;
  std::optional<std::chrono::milliseconds> timeout_;
  size_t in_flight_ = 0;
  uint64_t pushed_ = 0, popped_ = 0;
  bool given_up_ = false;
};

/// "batch 3, sample 17", or the batch's samples where `position` says no single one.
std::string describe(const LoadJob& job, int64_t position);

}  // namespace taper::data::detail
