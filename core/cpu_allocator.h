#pragma once

#include <cstddef>

#include "taper/core/macros.h"

// The cache behind CPU tensors above 768 bytes and the kernels' scratch memory: 64-byte aligned
// blocks, kept when freed and handed out again by size class. From 2 MiB on they are mapped on huge
// pages.

namespace taper::detail {

/// Throws OutOfMemoryError.
void* cpu_allocate(size_t bytes);
/// The same without an exception: null when there is no memory.
void* cpu_try_allocate(size_t bytes) noexcept;
/// `bytes` must be what the block was asked with.
void cpu_release(void* memory, size_t bytes) noexcept;

/// Fresh pages of the system, aligned to 2 MiB, past the cache and its counters; null when there
/// are none.
void* map_pages(size_t bytes) noexcept;
void unmap_pages(void* memory, size_t bytes) noexcept;

}  // namespace taper::detail
