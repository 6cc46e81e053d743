#include "taper/data/dataloader/prefetcher.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "taper/core/thread_state.h"
#include "taper/data/sample_random.h"
#include "taper/data/worker_exception.h"

namespace taper::data {

WorkerException::~WorkerException() = default;
TimeoutError::~TimeoutError() = default;

namespace detail {

namespace {

using Clock = std::chrono::steady_clock;

struct Numbered {
  uint64_t number = 0;
  std::shared_ptr<const LoadJob> job;
};

struct Worker {
  std::shared_ptr<void> dataset;
  Numbered current;  // what it is at; no job: idle
  Clock::time_point since;
  std::atomic<int64_t> position{-1};  // of the sample within the batch
  bool finished = false;
};

std::string what_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

struct Prefetcher::Shared {
  std::mutex mutex;
  std::condition_variable wake_workers, wake_consumer;
  std::deque<Numbered> jobs;
  std::map<uint64_t, LoadResult> results;  // by job
  uint64_t first_valid = 0;                // jobs before it have been dropped
  bool stop = false;
  std::deque<Worker> workers;

  void work(size_t id) {
    taper::detail::thread_state.in_parallel = true;  // ops in a worker use one thread
    Worker& self = workers[id];
    std::unique_lock lock(mutex);
    for (;;) {
      wake_workers.wait(lock, [&] { return stop || !jobs.empty(); });
      if (stop) break;
      self.current = std::move(jobs.front());
      jobs.pop_front();
      self.since = Clock::now();
      const Numbered current = self.current;
      lock.unlock();
      LoadResult result = run(self, *current.job, id);
      lock.lock();
      self.current = {};
      if (!stop && current.number >= first_valid) {
        results.emplace(current.number, std::move(result));
        wake_consumer.notify_one();
      }
      // A dropped result is destroyed without the lock: that may run the user's code.
      lock.unlock();
      result = {};
      lock.lock();
    }
    self.finished = true;
    wake_consumer.notify_all();
  }

  static LoadResult run(Worker& self, const LoadJob& job, size_t id) {
    LoadResult result;
    self.position.store(-1, std::memory_order_relaxed);
    try {
      const LoadScope scope(job.seed, job.epoch, job.batch, &self.position);
      result.batch = job.run(self.dataset.get());
    } catch (...) {
      result.exception = std::current_exception();
      result.where = "worker " + std::to_string(id) + ", " +
                     describe(job, self.position.load(std::memory_order_relaxed)) + ": " +
                     what_of(result.exception);
    }
    return result;
  }
};

std::string describe(const LoadJob& job, int64_t position) {
  std::string text = "batch " + std::to_string(job.batch);
  const size_t count = job.samples.size();
  if (position >= 0 && static_cast<size_t>(position) < count) {
    return text + ", sample " + std::to_string(job.samples[static_cast<size_t>(position)]);
  }
  constexpr size_t kShown = 8;
  for (size_t i = 0; i < std::min(count, kShown); ++i) {
    text += (i == 0 ? ", samples " : ", ") + std::to_string(job.samples[i]);
  }
  if (count > kShown) text += ", ...";
  return text;
}

Prefetcher::Prefetcher(std::vector<std::shared_ptr<void>> datasets, bool ordered,
                       std::optional<std::chrono::milliseconds> timeout)
    : shared_(std::make_shared<Shared>()), ordered_(ordered), timeout_(timeout) {
  for (auto& dataset : datasets) shared_->workers.emplace_back().dataset = std::move(dataset);
  try {
    for (size_t i = 0; i < datasets.size(); ++i) {
      threads_.emplace_back([shared = shared_, i] { shared->work(i); });
    }
  } catch (...) {
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stop = true;
    }
    shared_->wake_workers.notify_all();
    for (std::thread& thread : threads_) thread.join();
    throw;
  }
}

Prefetcher::~Prefetcher() {
  // Destroyed after the lock is released: that may run the user's code.
  std::deque<Numbered> jobs;
  std::map<uint64_t, LoadResult> results;
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  jobs.swap(shared_->jobs);
  results.swap(shared_->results);
  shared_->wake_workers.notify_all();
  // With a timeout nobody waits longer than that, not even for a worker to stop.
  const auto deadline = Clock::now() + timeout_.value_or(std::chrono::milliseconds(0));
  for (size_t i = 0; i < threads_.size(); ++i) {
    const auto finished = [&] { return shared_->workers[i].finished; };
    if (given_up_) {
      // Idle ones stop at once; whoever is busy may be the one that is stuck.
      shared_->wake_consumer.wait(lock,
                                  [&] { return finished() || shared_->workers[i].current.job; });
    } else if (timeout_) {
      shared_->wake_consumer.wait_until(lock, deadline, finished);
    } else {
      shared_->wake_consumer.wait(lock, finished);
    }
    const bool join = finished();
    lock.unlock();
    if (join) {
      threads_[i].join();
    } else {
      threads_[i].detach();
    }
    lock.lock();
  }
}

void Prefetcher::push(LoadJob job) {
  auto shared_job = std::make_shared<const LoadJob>(std::move(job));
  const std::lock_guard lock(shared_->mutex);
  shared_->jobs.push_back({pushed_++, std::move(shared_job)});
  ++in_flight_;
  shared_->wake_workers.notify_one();
}

LoadResult Prefetcher::pop() {
  std::unique_lock lock(shared_->mutex);
  auto& results = shared_->results;
  const auto ready = [&] {
    return !results.empty() && (!ordered_ || results.begin()->first == popped_);
  };
  if (!timeout_) {
    shared_->wake_consumer.wait(lock, ready);
  } else if (!shared_->wake_consumer.wait_for(lock, *timeout_, ready)) {
    fail_timeout();
  }
  LoadResult result = std::move(results.begin()->second);
  results.erase(results.begin());
  ++popped_;
  --in_flight_;
  return result;
}

void Prefetcher::fail_timeout() {
  given_up_ = true;
  std::string text = "Timeout in DataLoader: no batch was ready within " +
                     std::to_string(timeout_->count()) + " ms";
  bool stuck = false;
  for (size_t i = 0; i < shared_->workers.size(); ++i) {
    const Worker& worker = shared_->workers[i];
    if (!worker.current.job || (ordered_ && worker.current.number != popped_)) continue;
    const auto busy =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - worker.since);
    text += "; worker " + std::to_string(i) + " has been at " +
            describe(*worker.current.job, worker.position.load(std::memory_order_relaxed)) +
            " for " + std::to_string(busy.count()) + " ms and is given up";
    stuck = true;
  }
  if (!stuck) text += "; the workers are busy with earlier batches";
  text += ". If loading is just slow, raise the timeout or the number of workers.";
  throw TimeoutError(text);
}

void Prefetcher::drop() {
  // Destroyed after the lock is released, as above.
  std::deque<Numbered> jobs;
  std::map<uint64_t, LoadResult> results;
  const std::lock_guard lock(shared_->mutex);
  jobs.swap(shared_->jobs);
  results.swap(shared_->results);
  shared_->first_valid = popped_ = pushed_;
  in_flight_ = 0;
}

}  // namespace detail

}  // namespace taper::data
