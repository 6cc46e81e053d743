#pragma once

#include <cstddef>
#include <cstdint>

// Where the threads' lists of small blocks (small_alloc.h) are filled from and emptied into. A slab
// is 2 MiB, cut into blocks of one size. When all of its blocks are back, it can be cut anew, for
// any size; a few such slabs are kept, the others go back to the system.

namespace taper::detail {

/// Blocks linked through their first words.
struct BlockList {
  void* first = nullptr;
  uint32_t count = 0;
};

/// Up to `count` blocks of class `index`; none when there is no memory.
BlockList take_blocks(size_t index, uint32_t count) noexcept;
/// Takes back all blocks of a list. They may come from any thread.
void return_blocks(size_t index, void* first) noexcept;
/// Gives the slabs that are kept to the system.
void release_free_slabs() noexcept;

}  // namespace taper::detail
