#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "taper/kernels/cuda/stream_mark.h"
#include "taper/kernels/device.h"

// Device memory is asked from the driver in segments, which are cut into blocks, and kept: asking
// costs a hundred microseconds, and giving back waits for the whole device.

namespace taper::kernels::cuda {

class DeviceCache;

constexpr int64_t kNoLimit = INT64_MAX;

/// A piece of a segment. Its neighbours there are its `before` and `after`.
struct Block {
  DeviceCache* cache;
  char* memory;
  size_t size;
  size_t requested;     ///< as asked
  cudaStream_t stream;  ///< whose work may use it without waiting
  bool small;           ///< the pool that it is of
  bool in_use = false;  ///< handed out, or waiting for its marks
  Block* before = nullptr;
  Block* after = nullptr;
  std::vector<StreamOnDevice> used_on = {};  ///< beside its own stream

  bool is_split() const { return before || after; }
};

/// The memory of one device. Thread-safe.
class DeviceCache {
 public:
  explicit DeviceCache(int device) : device_(device) {}
  ~DeviceCache() { clear(); }
  DeviceCache(const DeviceCache&) = delete;
  DeviceCache& operator=(const DeviceCache&) = delete;

  Status allocate(void** memory, size_t bytes, cudaStream_t stream);
  void release(Block* block);
  void record(Block* block, const StreamOnDevice& use);
  /// Gives what is not in use back to the driver; waits.
  Status empty();
  /// Frees everything, in use or not.
  void clear();
  /// `gone` will be destroyed, and `heir` waits for it: what was its, is now the other's.
  void inherit(const StreamOnDevice& gone, const StreamOnDevice& heir);

  DeviceMemoryStats stats();
  void reset_peak();
  void reset_accumulated();
  void set_limit(int64_t bytes);
  int64_t in_use();
  /// Counts it, and says how much of the device is whose.
  Status out_of_memory(size_t bytes);

 private:
  struct Order {
    bool operator()(const Block* a, const Block* b) const;
  };
  using Pool = std::set<Block*, Order>;
  struct Waiting {
    Block* block;
    std::vector<StreamMark> marks;
  };

  Pool& pool_of(const Block& block) { return block.small ? small_ : large_; }
  void add_free(Block* block);
  void remove_free(Block* block);
  Block* find_free(size_t size, bool small, cudaStream_t stream);
  Block* find_idle_segment(size_t size, bool small, cudaStream_t stream);
  Block* new_segment(size_t bytes, bool small, cudaStream_t stream, cudaError_t* error);
  Status find_or_make(Block** block, size_t bytes, cudaStream_t stream);
  void hand_out(Block* block, size_t size, size_t requested);
  void take_back(Block* block);
  Block* merged(Block* block, Block* neighbour);
  void look_at_waiting();
  Status wait_for_waiting();
  Status free_segments(Pool& pool);
  Status free_segment(Block* block);
  void settle_split();

  const int device_;
  std::mutex mutex_;
  Pool small_, large_;  // of blocks that are free
  std::vector<Waiting> waiting_;
  std::set<Block*> blocks_;  // all
  DeviceMemoryStats stats_{};
  int64_t split_ = 0;         // free pieces of split segments, in bytes, as of now
  int64_t limit_ = kNoLimit;  // of reserved bytes
};

/// The block that begins at `memory`; null if it is none of ours or was given back.
Block* find_block(const void* memory);

/// "1.50 GiB", as PyTorch writes sizes.
std::string size_text(int64_t bytes);
std::string memory_table(int device, const DeviceMemoryStats& stats);
std::string out_of_memory_text(int device, int64_t wanted, int64_t limit,
                               const DeviceMemoryStats& stats);

}  // namespace taper::kernels::cuda
