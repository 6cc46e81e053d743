#include "taper/core/cpu_allocator.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "taper/core/error.h"
#include "taper/core/memory.h"
#include "taper/core/slabs.h"
#include "taper/core/system_memory.h"

namespace taper {

namespace detail {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
// Where the system's state is looked at: each allocation of this size, and whenever so much was
// taken since.
constexpr int64_t kLookEvery = int64_t{32} << 20;
// Left to everybody else: page tables, code, other processes' next second.
constexpr int64_t kReserve = int64_t{64} << 20;
// The cache may always hold this much, and never more than the tensors themselves ever took.
constexpr int64_t kCacheFloor = int64_t{256} << 20;
constexpr size_t kLargest = size_t{1} << 62;

// Size classes: four to each power of two, so that at most a quarter of a block is unused; from 256
// bytes on.
constexpr int kFirstBit = 8, kLastBit = 62;
constexpr int kClasses = (kLastBit - kFirstBit) * 4 + 1;

struct SizeClass {
  int index;
  size_t bytes;
};

SizeClass class_of(size_t bytes) {
  constexpr size_t kSmallest = size_t{1} << kFirstBit;
  if (bytes <= kSmallest) return {0, kSmallest};
  const int bit = std::bit_width(bytes - 1) - 1;  // 2^bit < bytes <= 2^(bit + 1)
  const size_t power = size_t{1} << bit;
  const size_t quarters = ((bytes - 1 - power) >> (bit - 2)) + 1;  // 1 to 4
  return {(bit - kFirstBit) * 4 + static_cast<int>(quarters), power + quarters * (power / 4)};
}

size_t bytes_of(int index) {
  const size_t power = size_t{1} << (kFirstBit + index / 4);
  return power + static_cast<size_t>(index % 4) * (power / 4);
}

// A few locks, so that threads seldom meet. Everything here is constant-initialised and never
// destroyed: tensors in static objects may be freed at any time.
constexpr int kShards = 16;
struct alignas(TAPER_CACHE_LINE) Shard {
  std::mutex mutex;
  int64_t allocations = 0, frees = 0;
};
constinit Shard shards[kShards];
constinit void* free_blocks[kClasses];

Shard& shard_of(int index) { return shards[index % kShards]; }

struct Counters {
  int64_t current, peak, cached, system_allocations;
  int64_t since_look;
  int64_t limit;  ///< -1: the environment has not been read
};
alignas(TAPER_CACHE_LINE) constinit Counters counters{0, 0, 0, 0, kLookEvery, -1};

int64_t load(const int64_t& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }
int64_t add(int64_t& counter, int64_t value) {
  return __atomic_add_fetch(&counter, value, __ATOMIC_RELAXED);
}

void raise_peak(int64_t current) {
  int64_t peak = load(counters.peak);
  while (peak < current && !__atomic_compare_exchange_n(&counters.peak, &peak, current, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

int64_t memory_limit() {
  int64_t limit = load(counters.limit);
  if (TAPER_LIKELY(limit >= 0)) return limit;
  const char* text = std::getenv("TAPER_CPU_MEMORY_LIMIT");
  limit = text && *text ? parse_bytes(text) : 0;
  TAPER_CHECK_VALUE(limit >= 0,
                    "TAPER_CPU_MEMORY_LIMIT: expected a number of bytes such as "
                    "\"2G\" or \"512M\", but got \"",
                    text, "\"");
  __atomic_store_n(&counters.limit, limit, __ATOMIC_RELAXED);
  return limit;
}

#if !defined(TAPER_NO_CACHE)
// A fork in the middle of an allocation must not leave the child with a lock that nobody holds.
void lock_all() {
  for (Shard& shard : shards) shard.mutex.lock();
}
void unlock_all() {
  for (Shard& shard : shards) shard.mutex.unlock();
}
#endif

// ---- The system's memory.

void* system_allocate(size_t bytes) {
  add(counters.system_allocations, 1);
#if !defined(TAPER_NO_CACHE)
  if (bytes >= kHugePage) {
    void* const pages = map_pages(bytes);
    if (pages) madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
  }
#endif
  void* memory = nullptr;
  return posix_memalign(&memory, kAlignment, bytes) == 0 ? memory : nullptr;
}

void system_free(void* memory, [[maybe_unused]] size_t bytes) {
#if !defined(TAPER_NO_CACHE)
  if (bytes >= kHugePage) {
    unmap_pages(memory, bytes);
    return;
  }
#endif
  std::free(memory);
}

// Whether the system can be expected to back `bytes` more: Linux promises more than it has.
bool system_can_give(int64_t bytes) {
  if (bytes < kLookEvery && add(counters.since_look, bytes) < kLookEvery) return true;
  __atomic_store_n(&counters.since_look, 0, __ATOMIC_RELAXED);
  const int64_t available = available_memory().bytes;
  if (available < 0 || bytes + kReserve <= available) return true;
  __atomic_store_n(&counters.since_look, kLookEvery, __ATOMIC_RELAXED);  // look again next time
  return false;
}

// ---- The cache.

void* take_cached(SizeClass size) {
  Shard& shard = shard_of(size.index);
  const std::lock_guard lock(shard.mutex);
  ++shard.allocations;
  void* const block = free_blocks[size.index];
  if (!block) return nullptr;
  free_blocks[size.index] = *static_cast<void**>(block);
  add(counters.cached, -static_cast<int64_t>(size.bytes));
  return block;
}

// False where the block is not to be kept.
bool put_cached([[maybe_unused]] void* memory, SizeClass size) {
  Shard& shard = shard_of(size.index);
#if defined(TAPER_NO_CACHE)
  const std::lock_guard lock(shard.mutex);
  ++shard.frees;
  return false;
#else
  static const int registered = pthread_atfork(lock_all, unlock_all, unlock_all);
  (void)registered;
  const int64_t block = static_cast<int64_t>(size.bytes);
  const int64_t most = std::max(kCacheFloor, load(counters.peak));
  if (TAPER_UNLIKELY(load(counters.cached) + block > most)) empty_cpu_cache();
  const std::lock_guard lock(shard.mutex);
  ++shard.frees;
  if (block > most) return false;
  add(counters.cached, block);
  *static_cast<void**>(memory) = free_blocks[size.index];
  free_blocks[size.index] = memory;
  return true;
#endif
}

void* allocate_or_null(SizeClass size, int64_t bytes, int64_t limit) {
  const int64_t current = add(counters.current, bytes);
  if (limit > 0 && current > limit) return nullptr;
  void* memory = take_cached(size);
  if (!memory) {
    // What is cached counts against the limit too, as long as it can be given back instead.
    if (limit > 0 && current + load(counters.cached) > limit) empty_cpu_cache();
    if (!system_can_give(bytes)) {
      empty_cpu_cache();
      if (!system_can_give(bytes)) return nullptr;
    }
    memory = system_allocate(size.bytes);
    if (!memory) {
      empty_cpu_cache();
      memory = system_allocate(size.bytes);
    }
  }
  if (memory) raise_peak(current);
  return memory;
}

[[noreturn]] TAPER_COLD void fail_out_of_memory(int64_t bytes, int64_t limit) {
  const AvailableMemory available = available_memory();
  MessageBuilder message;
  message << "CPU: not enough memory: you tried to allocate " << bytes << " bytes ("
          << readable_bytes(bytes) << "). Tensors hold " << readable_bytes(load(counters.current))
          << ", the cache holds " << readable_bytes(load(counters.cached));
  if (available.bytes >= 0) {
    message << ", " << readable_bytes(available.bytes) << " are available " << available.decided_by;
  }
  if (limit > 0) {
    message << "; the limit is " << readable_bytes(limit) << " (TAPER_CPU_MEMORY_LIMIT)";
  }
  message << ". Hint: take a smaller batch, let go of tensors that are no longer needed (a loss "
             "that is kept keeps its whole graph: use item() or detach()), and evaluate under "
             "NoGradGuard.";
  throw OutOfMemoryError(message.take());
}

}  // namespace

void* map_pages(size_t bytes) noexcept {
  // Mapped with room to spare, then cut to alignment: only aligned huge pages are used whole.
  const size_t mapped = bytes + kHugePage;
  void* const start =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  const uintptr_t from = reinterpret_cast<uintptr_t>(start);
  const uintptr_t aligned = (from + kHugePage - 1) & ~(kHugePage - 1);
  if (aligned > from) munmap(start, aligned - from);
  const size_t behind = from + mapped - (aligned + bytes);
  if (behind) munmap(reinterpret_cast<void*>(aligned + bytes), behind);
  return reinterpret_cast<void*>(aligned);
}

void unmap_pages(void* memory, size_t bytes) noexcept { munmap(memory, bytes); }

void* cpu_try_allocate(size_t bytes) noexcept {
  if (bytes > kLargest) return nullptr;
  int64_t limit = 0;
  try {
    limit = memory_limit();
  } catch (const Error&) {
    // An unreadable limit is reported by the next allocation that may throw.
  }
  void* const memory = allocate_or_null(class_of(bytes), static_cast<int64_t>(bytes), limit);
  if (!memory) add(counters.current, -static_cast<int64_t>(bytes));
  return memory;
}

void* cpu_allocate(size_t bytes) {
  TAPER_CHECK_AS(OutOfMemoryError, bytes <= kLargest,
                 "CPU: not enough memory: you tried to allocate ", bytes,
                 " bytes, more than any machine has");
  const int64_t limit = memory_limit();
  void* const memory = allocate_or_null(class_of(bytes), static_cast<int64_t>(bytes), limit);
  if (TAPER_LIKELY(memory != nullptr)) return memory;
  add(counters.current, -static_cast<int64_t>(bytes));
  fail_out_of_memory(static_cast<int64_t>(bytes), limit);
}

void cpu_release(void* memory, size_t bytes) noexcept {
  const SizeClass size = class_of(bytes);
  add(counters.current, -static_cast<int64_t>(bytes));
  if (!put_cached(memory, size)) system_free(memory, size.bytes);
}

}  // namespace detail

CpuMemoryStats cpu_memory_stats() {
  using detail::counters, detail::load;
  CpuMemoryStats stats;
  stats.current = load(counters.current);
  stats.peak = load(counters.peak);
  stats.cached = load(counters.cached);
  stats.system_allocations = load(counters.system_allocations);
  stats.limit = std::max<int64_t>(0, load(counters.limit));
  for (detail::Shard& shard : detail::shards) {
    const std::lock_guard lock(shard.mutex);
    stats.allocations += shard.allocations;
    stats.frees += shard.frees;
  }
  return stats;
}

void reset_peak_cpu_memory_stats() {
  __atomic_store_n(&detail::counters.peak, detail::load(detail::counters.current),
                   __ATOMIC_RELAXED);
}

void empty_cpu_cache() {
  detail::release_free_slabs();
  for (int index = 0; index < detail::kClasses; ++index) {
    void* block;
    {
      const std::lock_guard lock(detail::shard_of(index).mutex);
      block = detail::free_blocks[index];
      detail::free_blocks[index] = nullptr;
    }
    while (block) {
      void* const next = *static_cast<void**>(block);
      const size_t bytes = detail::bytes_of(index);
      detail::add(detail::counters.cached, -static_cast<int64_t>(bytes));
      detail::system_free(block, bytes);
      block = next;
    }
  }
}

void set_cpu_memory_limit(int64_t bytes) {
  TAPER_CHECK_VALUE(bytes >= 0, "set_cpu_memory_limit: expected 0 or more bytes, but got ", bytes);
  __atomic_store_n(&detail::counters.limit, bytes, __ATOMIC_RELAXED);
}

}  // namespace taper
