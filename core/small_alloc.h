#pragma once

#include <cstddef>

#include "taper/core/macros.h"
#include "taper/core/thread_state.h"

// Memory for the small objects that come and go with every op: tensors, small storages, nodes of
// the tape. Freed blocks of up to 1 KiB wait in lists of their thread, by size in steps of 32
// bytes. A block may be freed by another thread than made it: it joins that thread's list. Lists
// are filled from slabs (slabs.h), and what is too much for them goes back there. Blocks are
// 16-byte aligned.
//
// Only for the library's own files: the thread's state has no symbol outside.

namespace taper::detail {

constexpr size_t kSmallStep = 32;
constexpr size_t kSmallClasses = 32;
constexpr size_t kSmallLimit = kSmallStep * kSmallClasses;

/// Throws OutOfMemoryError.
void* small_alloc_slow(size_t bytes);
void small_free_slow(void* memory, size_t bytes);

TAPER_INLINE void* small_alloc(size_t bytes) {
#if !defined(TAPER_NO_CACHE)
  const size_t list = (bytes - 1) / kSmallStep;
  if (TAPER_LIKELY(list < kSmallClasses)) {
    ThreadState& state = thread_state;
    void* const block = state.small_blocks[list];
    if (TAPER_LIKELY(block != nullptr)) {
      state.small_blocks[list] = *static_cast<void**>(block);
      --state.small_counts[list];
      return block;
    }
  }
#endif
  return small_alloc_slow(bytes);
}

/// `bytes` must be what the block was asked with.
TAPER_INLINE void small_free(void* memory, size_t bytes) {
#if !defined(TAPER_NO_CACHE)
  const size_t list = (bytes - 1) / kSmallStep;
  if (TAPER_LIKELY(list < kSmallClasses)) {
    ThreadState& state = thread_state;
    if (TAPER_LIKELY(state.small_counts[list] < state.small_limit)) {
      *static_cast<void**>(memory) = state.small_blocks[list];
      state.small_blocks[list] = memory;
      ++state.small_counts[list];
      return;
    }
  }
#endif
  small_free_slow(memory, bytes);
}

/// Gives the calling thread's lists back to the slabs.
void small_trim();

}  // namespace taper::detail
