#include "taper/core/small_alloc.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "taper/core/error.h"
#include "taper/core/slabs.h"

namespace taper::detail {

namespace {

#if !defined(TAPER_NO_CACHE)

constexpr uint16_t kLongestList = 512;
// Half of the longest list goes back at once, so that a program at the bound seldom comes here.
constexpr uint32_t kReturned = kLongestList / 2;
// A list that is empty gets about so much.
constexpr size_t kFillBytes = 8192;

// Apart from ThreadState, because a thread_local with a destructor is slow to reach. Tensors that
// die after it (in other thread_locals, in static objects) are freed directly, since the limit is 0
// then.
struct ListsOfThread {
  ~ListsOfThread() {
    thread_state.small_limit = 0;
    small_trim();
  }
};

void register_thread() {
  ThreadState& state = thread_state;
  if (state.registered) return;
  static thread_local ListsOfThread lists;
  (void)&lists;  // naming it makes it, and with it the destructor's registration
  state.registered = true;
  state.small_limit = kLongestList;
}

// Fills the thread's list and takes one block of it; null when there is no memory.
void* fill_list(size_t list) {
  register_thread();
  ThreadState& state = thread_state;
  const size_t wanted = state.small_limit ? kFillBytes / ((list + 1) * kSmallStep) : 1;
  const BlockList blocks = take_blocks(list, static_cast<uint32_t>(wanted));
  if (blocks.count == 0) return nullptr;
  state.small_blocks[list] = *static_cast<void**>(blocks.first);
  state.small_counts[list] = static_cast<uint16_t>(blocks.count - 1);
  return blocks.first;
}

// Returns the blocks that came last.
void shorten_list(size_t list) {
  ThreadState& state = thread_state;
  void* const first = state.small_blocks[list];
  void* last = first;
  for (uint32_t i = 1; i < kReturned; ++i) last = *static_cast<void**>(last);
  void** const end = static_cast<void**>(last);
  state.small_blocks[list] = std::exchange(*end, nullptr);
  state.small_counts[list] -= kReturned;
  return_blocks(list, first);
}

#endif

void* allocate(size_t bytes) {
#if !defined(TAPER_NO_CACHE)
  if (TAPER_LIKELY(bytes - 1 < kSmallLimit)) return fill_list((bytes - 1) / kSmallStep);
#endif
  return std::malloc(std::max<size_t>(bytes, 1));
}

}  // namespace

void* small_alloc_slow(size_t bytes) {
  void* memory = allocate(bytes);
  if (TAPER_UNLIKELY(memory == nullptr)) {
    small_trim();
    release_free_slabs();
    memory = allocate(bytes);
  }
  if (TAPER_UNLIKELY(memory == nullptr)) {
    fail<OutOfMemoryError>("not enough memory: you tried to allocate ", bytes,
                           " bytes, and the system has none left");
  }
  return memory;
}

void small_free_slow(void* memory, [[maybe_unused]] size_t bytes) {
#if !defined(TAPER_NO_CACHE)
  if (TAPER_LIKELY(bytes - 1 < kSmallLimit)) {
    const size_t list = (bytes - 1) / kSmallStep;
    register_thread();  // a thread that only frees keeps what it is given, too
    if (thread_state.small_limit) {
      if (thread_state.small_counts[list] >= kLongestList) shorten_list(list);
      return small_free(memory, bytes);
    }
    *static_cast<void**>(memory) = nullptr;
    return return_blocks(list, memory);
  }
#endif
  std::free(memory);
}

void small_trim() {
#if !defined(TAPER_NO_CACHE)
  ThreadState& state = thread_state;
  for (size_t list = 0; list < kSmallClasses; ++list) {
    void* const first = state.small_blocks[list];
    state.small_blocks[list] = nullptr;
    state.small_counts[list] = 0;
    if (first) return_blocks(list, first);
  }
#endif
}

}  // namespace taper::detail
