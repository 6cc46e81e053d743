#pragma once

#include <cstddef>

#include "taper/kernels/cuda/stream_mark.h"

// Host memory that devices read and write directly: cached, for taking it from the system costs a
// millisecond. A block that a copy still uses is not handed out again before that copy has run.

namespace taper::kernels::cuda {

Status allocate_pinned(void** memory, size_t bytes);
void release_pinned(void* memory);
/// A device to make current for calls that concern no particular one.
int device_for_pinning();
/// Also memory that somebody else has pinned.
bool is_pinned(const void* memory);
/// A copy from or to this memory was put into a stream; nothing for memory that is not ours.
void record_pinned(const void* memory, const StreamOnDevice& use);
/// See DeviceCache::inherit.
void inherit_pinned(const StreamOnDevice& gone, const StreamOnDevice& heir);
/// Gives what is not in use back to the system; waits.
Status empty_pinned();
/// Frees everything, in use or not.
void clear_pinned();
int64_t pinned_in_use();

}  // namespace taper::kernels::cuda
