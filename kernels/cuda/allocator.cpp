#include "taper/kernels/cuda/allocator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <tuple>
#include <unordered_map>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device_guard.h"

namespace taper::kernels::cuda {

namespace {

// PyTorch's sizes: a program's memory can be compared with what it takes there.
constexpr size_t kRound = 512;
constexpr size_t kSmall = size_t{1} << 20;  // requests up to here come from the small pool
constexpr size_t kSmallSegment = size_t{2} << 20;
constexpr size_t kLargeSegment = size_t{20} << 20;  // for requests below kMedium
constexpr size_t kMedium = size_t{10} << 20;
constexpr size_t kSegmentRound = size_t{2} << 20;

#if defined(TAPER_NO_CACHE)
constexpr bool kCached = false;
#else
constexpr bool kCached = true;
#endif

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

size_t segment_size(size_t size) {
  if (!kCached) return size;
  if (size <= kSmall) return kSmallSegment;
  return size < kMedium ? kLargeSegment : rounded(size, kSegmentRound);
}

void increase(MemoryCounter& counter, size_t by) {
  const auto n = static_cast<int64_t>(by);
  counter.current += n;
  counter.allocated += n;
  counter.peak = std::max(counter.peak, counter.current);
}
void decrease(MemoryCounter& counter, size_t by) {
  counter.current -= static_cast<int64_t>(by);
  counter.freed += static_cast<int64_t>(by);
}

// ---- Whose is this pointer? ---------------------------------------------------------------------

// In shards, so that threads of different devices seldom meet.
struct Shard {
  std::mutex mutex;
  std::unordered_map<const void*, Block*> blocks;
};
Shard& shard_of(const void* memory) {
  static auto* const shards = new std::array<Shard, 16>;
  return (*shards)[reinterpret_cast<uintptr_t>(memory) / kRound * 0x9e3779b97f4a7c15ull >> 60];
}
void set_owner(Block* block) {
  Shard& shard = shard_of(block->memory);
  const std::lock_guard lock(shard.mutex);
  shard.blocks[block->memory] = block;
}
Block* find_owner(const void* memory, bool remove) {
  Shard& shard = shard_of(memory);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(memory);
  if (found == shard.blocks.end()) return nullptr;
  Block* const block = found->second;
  if (remove) shard.blocks.erase(found);
  return block;
}

}  // namespace

Block* find_block(const void* memory) { return find_owner(memory, false); }

// ---- The pools ----------------------------------------------------------------------------------

bool DeviceCache::Order::operator()(const Block* a, const Block* b) const {
  const std::less<const void*> less;
  if (a->stream != b->stream) return less(a->stream, b->stream);
  return a->size != b->size ? a->size < b->size : less(a->memory, b->memory);
}

void DeviceCache::add_free(Block* block) {
  pool_of(*block).insert(block);
  if (block->is_split()) split_ += static_cast<int64_t>(block->size);
}

void DeviceCache::remove_free(Block* block) {
  pool_of(*block).erase(block);
  if (block->is_split()) split_ -= static_cast<int64_t>(block->size);
}

// Once per call, so that what is split and merged on the way does not count.
void DeviceCache::settle_split() {
  const int64_t change = split_ - stats_.inactive_split_bytes.current;
  if (change > 0) increase(stats_.inactive_split_bytes, static_cast<size_t>(change));
  if (change < 0) decrease(stats_.inactive_split_bytes, static_cast<size_t>(-change));
}

/// The smallest that is large enough.
Block* DeviceCache::find_free(size_t size, bool small, cudaStream_t stream) {
  Pool& pool = small ? small_ : large_;
  Block key{.cache = this,
            .memory = nullptr,
            .size = size,
            .requested = 0,
            .stream = stream,
            .small = small};
  const auto found = pool.lower_bound(&key);
  if (found == pool.end() || (*found)->stream != stream) return nullptr;
  return *found;
}

/// A whole segment of another stream which has nothing to do, so that nobody can still be using it.
Block* DeviceCache::find_idle_segment(size_t size, bool small, cudaStream_t stream) {
  Block* best = nullptr;
  std::vector<cudaStream_t> busy{stream};
  for (Block* const block : small ? small_ : large_) {
    if (block->is_split() || block->size < size || (best && block->size >= best->size)) continue;
    if (std::find(busy.begin(), busy.end(), block->stream) != busy.end()) continue;
    // While a stream is captured, the very question would spoil the capture.
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(block->stream, &capture) == cudaSuccess &&
        capture == cudaStreamCaptureStatusNone && cudaStreamQuery(block->stream) == cudaSuccess) {
      best = block;
    } else {
      cudaGetLastError();
      busy.push_back(block->stream);
    }
  }
  if (best) {
    remove_free(best);
    best->stream = stream;
    add_free(best);
  }
  return best;
}

Block* DeviceCache::new_segment(size_t bytes, bool small, cudaStream_t stream, cudaError_t* error) {
  if (static_cast<int64_t>(bytes) > limit_ - stats_.reserved_bytes.current) {
    *error = cudaErrorMemoryAllocation;
    return nullptr;
  }
  void* memory = nullptr;
  *error = cudaMalloc(&memory, bytes);
  if (*error != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  auto* const block = new Block{.cache = this,
                                .memory = static_cast<char*>(memory),
                                .size = bytes,
                                .requested = 0,
                                .stream = stream,
                                .small = small};
  blocks_.insert(block);
  add_free(block);
  increase(stats_.segment, 1);
  increase(stats_.reserved_bytes, bytes);
  return block;
}

// ---- Allocation ---------------------------------------------------------------------------------

Status DeviceCache::allocate(void** memory, size_t bytes, cudaStream_t stream) {
  *memory = nullptr;
  if (bytes == 0) return {};
  const std::lock_guard lock(mutex_);
  if (bytes > SIZE_MAX / 2) return out_of_memory(bytes);
  const size_t size = kCached ? rounded(bytes, kRound) : bytes;
  look_at_waiting();
  Block* block = kCached ? find_free(size, size <= kSmall, stream) : nullptr;
  if (!block) TAPER_TRY(find_or_make(&block, bytes, stream));
  hand_out(block, size, bytes);
  settle_split();
  set_owner(block);
  *memory = block->memory;
  return {};
}

Status DeviceCache::find_or_make(Block** block, size_t bytes, cudaStream_t stream) {
  const size_t size = kCached ? rounded(bytes, kRound) : bytes;
  const bool small = size <= kSmall;
  TAPER_ON_DEVICE(device_);
  if (kCached) {
    *block = find_idle_segment(size, small, stream);
    if (*block) return {};
  }
  cudaError_t error = cudaSuccess;
  *block = new_segment(segment_size(size), small, stream, &error);
  if (*block) return {};
  if (error != cudaErrorMemoryAllocation) return failed("cudaMalloc", error);
  // What waits for a stream may be of use; and then everything that nobody uses has to go.
  ++stats_.alloc_retries;
  TAPER_TRY(wait_for_waiting());
  if (kCached) {
    *block = find_free(size, small, stream);
    if (*block) return {};
  }
  TAPER_TRY(free_segments(small_));
  TAPER_TRY(free_segments(large_));
  *block = new_segment(segment_size(size), small, stream, &error);
  if (*block) return {};
  settle_split();
  return error == cudaErrorMemoryAllocation ? out_of_memory(bytes) : failed("cudaMalloc", error);
}

Status DeviceCache::out_of_memory(size_t bytes) {
  ++stats_.ooms;
  const auto wanted = static_cast<int64_t>(std::min<size_t>(bytes, INT64_MAX));
  return {Code::kOutOfMemory, wanted, 0, keep(out_of_memory_text(device_, wanted, limit_, stats_))};
}

/// Cuts off what is left, where that is worth a block.
void DeviceCache::hand_out(Block* block, size_t size, size_t requested) {
  remove_free(block);
  const size_t left = block->size - size;
  if (block->small ? left >= kRound : left > kSmall) {
    auto* const rest = new Block{.cache = this,
                                 .memory = block->memory + size,
                                 .size = left,
                                 .requested = 0,
                                 .stream = block->stream,
                                 .small = block->small};
    blocks_.insert(rest);
    rest->before = block;
    rest->after = block->after;
    if (rest->after) rest->after->before = rest;
    block->after = rest;
    block->size = size;
    add_free(rest);
  }
  block->requested = requested;
  block->in_use = true;
  increase(stats_.allocation, 1);
  increase(stats_.allocated_bytes, block->size);
  increase(stats_.active_bytes, block->size);
  increase(stats_.requested_bytes, requested);
}

void DeviceCache::record(Block* block, const StreamOnDevice& use) {
  const std::lock_guard lock(mutex_);
  if (use == StreamOnDevice{device_, block->stream}) return;
  auto& uses = block->used_on;
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
}

// ---- Release ------------------------------------------------------------------------------------

void DeviceCache::release(Block* block) {
  const std::lock_guard lock(mutex_);
  decrease(stats_.allocation, 1);
  decrease(stats_.allocated_bytes, block->size);
  decrease(stats_.requested_bytes, block->requested);
  if (!kCached) block->used_on.push_back({device_, block->stream});
  std::vector<StreamMark> marks;
  for (const StreamOnDevice& use : block->used_on) {
    StreamMark mark;
    if (mark.set_or_wait(use)) marks.push_back(std::move(mark));
  }
  block->used_on.clear();
  if (!kCached) {
    for (const StreamMark& mark : marks) static_cast<void>(mark.wait());
    marks.clear();
  }
  if (marks.empty()) {
    take_back(block);
  } else {
    waiting_.push_back({block, std::move(marks)});
  }
  settle_split();
}

void DeviceCache::take_back(Block* block) {
  decrease(stats_.active_bytes, block->size);
  block->in_use = false;
  block = merged(block, block->before);
  block = merged(block, block->after);
  add_free(block);
  if (!kCached) static_cast<void>(free_segment(block));
}

/// One block of two, if the neighbour is free.
Block* DeviceCache::merged(Block* block, Block* neighbour) {
  if (!neighbour || neighbour->in_use) return block;
  remove_free(neighbour);
  Block* const first = neighbour == block->before ? neighbour : block;
  Block* const second = first->after;
  first->size += second->size;
  first->after = second->after;
  if (first->after) first->after->before = first;
  blocks_.erase(second);
  delete second;
  return first;
}

void DeviceCache::look_at_waiting() {
  if (waiting_.empty()) return;
  const auto done = [&](Waiting& waiting) {
    std::erase_if(waiting.marks, [](const StreamMark& mark) { return mark.passed(); });
    if (!waiting.marks.empty()) return false;
    take_back(waiting.block);
    return true;
  };
  std::erase_if(waiting_, done);
}

Status DeviceCache::wait_for_waiting() {
  for (Waiting& waiting : waiting_) {
    for (const StreamMark& mark : waiting.marks) TAPER_TRY(mark.wait());
  }
  look_at_waiting();
  return {};
}

// ---- Giving back to the driver ------------------------------------------------------------------

Status DeviceCache::free_segment(Block* block) {
  remove_free(block);
  blocks_.erase(block);
  decrease(stats_.segment, 1);
  decrease(stats_.reserved_bytes, block->size);
  char* const memory = block->memory;
  delete block;
  TAPER_ON_DEVICE(device_);
  TAPER_CUDA_TRY(cudaFree(memory));
  return {};
}

/// All that are whole. Frees the rest too when one reports an error: it is an earlier call's.
Status DeviceCache::free_segments(Pool& pool) {
  Status first;
  for (auto next = pool.begin(); next != pool.end();) {
    Block* const block = *next++;
    if (block->is_split()) continue;
    const Status status = free_segment(block);
    if (first.ok()) first = status;
  }
  return first;
}

Status DeviceCache::empty() {
  const std::lock_guard lock(mutex_);
  Status first = wait_for_waiting();
  for (Pool* const pool : {&small_, &large_}) {
    const Status status = free_segments(*pool);
    if (first.ok()) first = status;
  }
  settle_split();
  return first;
}

void DeviceCache::clear() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  small_.clear();
  large_.clear();
  const DeviceGuard guard(device_);
  for (Block* const block : blocks_) {
    find_owner(block->memory, true);
    if (!block->before) cudaFree(block->memory);
    delete block;
  }
  cudaGetLastError();
  blocks_.clear();
  stats_ = {};
  split_ = 0;
}

void DeviceCache::inherit(const StreamOnDevice& gone, const StreamOnDevice& heir) {
  const std::lock_guard lock(mutex_);
  for (Block* const block : blocks_) {
    if (gone.device == device_ && block->stream == gone.stream) {
      const bool free = !block->in_use;
      if (free) remove_free(block);
      block->stream = heir.stream;
      if (free) add_free(block);
    }
    for (StreamOnDevice& use : block->used_on) {
      if (use == gone) use = heir;
    }
  }
}

// ---- Counters -----------------------------------------------------------------------------------

namespace {

template <class F>
void for_each_counter(DeviceMemoryStats& stats, F f) {
  for (MemoryCounter* const counter :
       {&stats.allocation, &stats.segment, &stats.allocated_bytes, &stats.reserved_bytes,
        &stats.active_bytes, &stats.inactive_split_bytes, &stats.requested_bytes}) {
    f(*counter);
  }
}

}  // namespace

DeviceMemoryStats DeviceCache::stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void DeviceCache::reset_peak() {
  const std::lock_guard lock(mutex_);
  for_each_counter(stats_, [](MemoryCounter& counter) { counter.peak = counter.current; });
}

void DeviceCache::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  for_each_counter(stats_, [](MemoryCounter& counter) { counter.allocated = counter.freed = 0; });
  stats_.alloc_retries = stats_.ooms = 0;
}

void DeviceCache::set_limit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

int64_t DeviceCache::in_use() { return stats().allocation.current; }

// ---- What kernels call --------------------------------------------------------------------------

void release(void* memory) {
  if (Block* const block = find_owner(memory, true)) block->cache->release(block);
}

}  // namespace taper::kernels::cuda
