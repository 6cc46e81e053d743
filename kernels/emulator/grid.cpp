#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "taper/kernels/emulator/device.h"
#include "taper/kernels/emulator/engine.h"
#include "taper/kernels/emulator/memory.h"
#include "taper/kernels/emulator/uninitialized.h"

// A grid's blocks, over the threads of the system; and the functions that device.h declares.

namespace taper::emulator {

namespace {

// From this many CUDA threads on, waking a second thread of the system pays.
constexpr uint64_t kWorthSharing = 16384;

/// Runs one grid at a time: whoever calls holds the machine's lock.
class Pool {
 public:
  std::string run(const Grid& grid, const Manner& manner, int system_threads,
                  std::weak_ptr<Engine>& of_stream) {
    grid_ = &grid;
    manner_ = manner;
    blocks_ = uint64_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z;
    next_ = 0;
    failed_ = false;
    shuffle();
    const uint64_t size = uint64_t{grid.threads.x} * grid.threads.y * grid.threads.z;
    const bool share = blocks_ > 1 && blocks_ * size >= kWorthSharing;
    const int helpers = share ? system_threads - 1 : 0;
    if constexpr (kThreadSanitizer) {
      const std::shared_ptr<Engine> engine = engine_of(of_stream);
      work(*engine);
      return engine->take_report();
    }
    while (engines_.size() < static_cast<size_t>(helpers) + 1) {
      engines_.push_back(std::make_unique<Engine>(manner.stack));
    }
    if (helpers > 0) start(helpers);
    work(*engines_[0]);
    if (helpers > 0) {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return busy_ == 0; });
    }
    std::string report;
    for (auto& engine : engines_) {
      std::string own = engine->take_report();
      if (report.empty()) report = std::move(own);
    }
    return report;
  }

 private:
  std::shared_ptr<Engine> engine_of(std::weak_ptr<Engine>& of_stream) {
    std::shared_ptr<Engine> engine = of_stream.lock();
    if (engine) {
      std::erase(latest_, engine);
    } else {
      engine = std::make_shared<Engine>(manner_.stack);
      of_stream = engine;
    }
    constexpr size_t kMost = 6;
    if (latest_.size() == kMost) latest_.pop_front();
    latest_.push_back(engine);
    return engine;
  }

  void shuffle() {
    order_.clear();
    constexpr uint64_t kMostToShuffle = 1 << 22;
    if (manner_.seed == 0 || blocks_ > kMostToShuffle) return;
    for (uint64_t i = 0; i < blocks_; ++i) order_.push_back(static_cast<uint32_t>(i));
    uint64_t random = manner_.seed * 77777 + 1;
    for (uint64_t i = blocks_; i > 1; --i) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      std::swap(order_[i - 1], order_[(random >> 33) % i]);
    }
  }

  void start(int helpers) {
    const std::lock_guard lock(mutex_);
    while (threads_.size() < static_cast<size_t>(helpers)) {
      const size_t number = threads_.size() + 1;
      threads_.emplace_back([this, number, seen = job_] { help(number, seen); });
    }
    busy_ = static_cast<int>(threads_.size());
    ++job_;
    wake_.notify_all();
  }

  void help(size_t number, uint64_t seen) {
    for (;;) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return job_ != seen; });
      seen = job_;
      Engine& engine = *engines_[number];
      lock.unlock();
      {
        const DeviceAccess access;
        work(engine);
      }
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  void work(Engine& engine) {
    const dim3 size = grid_->blocks;
    const ArithmeticWatch watch(manner_.watch);
    engine.begin(*grid_, manner_, this_thread());
    for (;;) {
      const uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
      if (number >= blocks_ || failed_.load(std::memory_order_relaxed)) break;
      const uint64_t block = order_.empty() ? number : order_[number];
      const uint3 index{static_cast<unsigned>(block % size.x),
                        static_cast<unsigned>(block / size.x % size.y),
                        static_cast<unsigned>(block / size.x / size.y)};
      if (!engine.run_block(index, number)) failed_ = true;
    }
    engine.end();
  }

  const Grid* grid_ = nullptr;
  Manner manner_;
  uint64_t blocks_ = 0;
  std::vector<uint32_t> order_;  // empty: as they are numbered
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::vector<std::unique_ptr<Engine>> engines_;
  std::deque<std::shared_ptr<Engine>> latest_;  // of streams, under the thread sanitizer

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  uint64_t job_ = 0;
  int busy_ = 0;
};

// Never destroyed: its threads may outlive everything else.
Pool& pool() {
  static auto* const pool = new Pool;
  return *pool;
}

}  // namespace

std::string run_grid(const Grid& grid, const Manner& manner, int system_threads,
                     std::weak_ptr<Engine>& of_stream) {
  return pool().run(grid, manner, system_threads, of_stream);
}

void* shared_memory(SharedSite& site, size_t bytes, const char* name) {
  return current->engine->shared(site, bytes, name);
}
void* dynamic_shared_memory() { return current->engine->dynamic_shared(); }
int block_barrier(int predicate, Vote vote, const char* file, int line) {
  return current->engine->barrier(predicate, vote, file, line);
}
void yield_thread() { current->engine->yield(); }
void device_fault(const char* what, const char* file, int line) {
  current->engine->fault(what, file, line);
}
void warp_collective(uint32_t mask, void* payload, WarpFunction function, const char* name,
                     const char* file, int line) {
  current->engine->collective(mask, payload, function, name, file, line);
}
void async_copy(void* to, const void* from, int bytes, int valid, const char* file, int line) {
  current->engine->async_copy(to, from, bytes, valid, file, line);
}
void async_commit() { current->engine->async_commit(); }
void async_wait(int groups_left) { current->engine->async_wait(groups_left); }

}  // namespace taper::emulator
