#include "taper/core/small_alloc.h"

#include <cstdint>
#include <cstdlib>

#include "taper/core/error.h"

namespace taper::detail {

namespace {

#if !defined(TAPER_NO_CACHE)

constexpr uint16_t kLongestList = 512;

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

#endif

}  // namespace

void* small_alloc_slow(size_t bytes) {
  size_t rounded = bytes;
#if !defined(TAPER_NO_CACHE)
  register_thread();
  if (bytes <= kSmallLimit)
    rounded = bytes ? (bytes + kSmallStep - 1) / kSmallStep * kSmallStep : 1;
#endif
  void* memory = std::malloc(rounded);
  if (TAPER_UNLIKELY(memory == nullptr)) {
    small_trim();
    memory = std::malloc(rounded);
  }
  if (TAPER_UNLIKELY(memory == nullptr)) {
    fail<OutOfMemoryError>("not enough memory: you tried to allocate ", bytes,
                           " bytes, and the system has none left");
  }
  return memory;
}

void small_free_slow(void* memory, [[maybe_unused]] size_t bytes) {
#if !defined(TAPER_NO_CACHE)
  if (TAPER_UNLIKELY(!thread_state.registered) && bytes - 1 < kSmallLimit) {
    // A thread that only frees: from now on it keeps what it is given.
    register_thread();
    return small_free(memory, bytes);
  }
#endif
  std::free(memory);
}

void small_trim() {
  ThreadState& state = thread_state;
  for (size_t list = 0; list < kSmallClasses; ++list) {
    void* block = state.small_blocks[list];
    state.small_blocks[list] = nullptr;
    state.small_counts[list] = 0;
    while (block) {
      void* const next = *static_cast<void**>(block);
      std::free(block);
      block = next;
    }
  }
}

}  // namespace taper::detail
