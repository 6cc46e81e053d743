#include "taper/kernels/cuda/runtime.h"

#include <string>

#include "taper/kernels/cuda/device_state.h"
#include "taper/kernels/cuda/pinned.h"

// The device's runtime as the contract has it. The entries about memory are here; the other files
// are named in runtime.h.

namespace taper::kernels::cuda {

Status allocate(void** memory, size_t bytes, Stream stream) {
  *memory = nullptr;
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(stream.device, &state));
  return state->cache.allocate(memory, bytes, static_cast<cudaStream_t>(stream.handle));
}

namespace runtime {

namespace {

Status record_stream(void* memory, Stream stream) {
  if (!memory) return {};
  Block* const block = find_block(memory);
  if (!block) {
    return {Code::kInvalidValue, 0, 0, "record_stream: this is no memory of Taper's allocator"};
  }
  block->cache->record(block, {stream.device, static_cast<cudaStream_t>(stream.handle)});
  return {};
}

template <class F>
void for_each_device(F f) {
  for (int device = 0; device < kMaxDevices; ++device) {
    if (DeviceState* const state = known_state_of(device)) f(*state);
  }
}

Status empty_cache() {
  Status first;
  for_each_device([&](DeviceState& state) {
    const Status status = state.cache.empty();
    if (first.ok()) first = status;
  });
  const Status status = empty_pinned();
  return first.ok() ? status : first;
}

// Where a device was not used yet, nothing was counted; asking about it does not begin its use.
Status memory_stats(int device, DeviceMemoryStats* stats) {
  DeviceState* const state = known_state_of(device);
  *stats = state ? state->cache.stats() : DeviceMemoryStats{};
  return {};
}

Status reset_peak_memory_stats(int device) {
  if (DeviceState* const state = known_state_of(device)) state->cache.reset_peak();
  return {};
}

Status reset_accumulated_memory_stats(int device) {
  if (DeviceState* const state = known_state_of(device)) state->cache.reset_accumulated();
  return {};
}

Status memory_info(int device, int64_t* free, int64_t* total) {
  TAPER_ON_DEVICE(device);
  size_t free_bytes = 0, total_bytes = 0;
  TAPER_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
  *free = static_cast<int64_t>(free_bytes);
  *total = static_cast<int64_t>(total_bytes);
  return {};
}

Status set_memory_fraction(int device, double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) {
    return {Code::kInvalidValue, 0, 0,
            keep("set_memory_fraction: " + std::to_string(fraction) + " is not between 0 and 1")};
  }
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(device, &state));
  int64_t free = 0, total = 0;
  TAPER_TRY(memory_info(device, &free, &total));
  state->cache.set_limit(
      fraction == 1 ? kNoLimit : static_cast<int64_t>(static_cast<double>(total) * fraction));
  return {};
}

Status memory_summary(int device, const char** text) {
  DeviceMemoryStats stats{};
  TAPER_TRY(memory_stats(device, &stats));
  *text = keep(memory_table(device, stats));
  return {};
}

int64_t live_allocations() {
  int64_t count = pinned_in_use();
  for_each_device([&](DeviceState& state) { count += state.cache.in_use(); });
  return count;
}

}  // namespace

}  // namespace runtime

const DeviceRuntime kRuntime = {
    .device_count = runtime::device_count,
    .properties = runtime::properties,
    .versions = runtime::versions,
    .can_access_peer = runtime::can_access_peer,
    .set_device = runtime::set_device,
    .allocate = allocate,
    .release = release,
    .record_stream = runtime::record_stream,
    .empty_cache = runtime::empty_cache,
    .memory_stats = runtime::memory_stats,
    .reset_peak_memory_stats = runtime::reset_peak_memory_stats,
    .reset_accumulated_memory_stats = runtime::reset_accumulated_memory_stats,
    .memory_info = runtime::memory_info,
    .set_memory_fraction = runtime::set_memory_fraction,
    .memory_summary = runtime::memory_summary,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .is_pinned = is_pinned,
    .device_of = runtime::device_of,
    .copy = runtime::copy,
    .default_stream = runtime::default_stream,
    .stream_create = runtime::stream_create,
    .stream_destroy = runtime::stream_destroy,
    .stream_synchronize = runtime::stream_synchronize,
    .stream_query = runtime::stream_query,
    .stream_priority_range = runtime::stream_priority_range,
    .device_synchronize = runtime::device_synchronize,
    .event_create = runtime::event_create,
    .event_destroy = runtime::event_destroy,
    .event_record = runtime::event_record,
    .event_query = runtime::event_query,
    .event_synchronize = runtime::event_synchronize,
    .event_elapsed = runtime::event_elapsed,
    .stream_wait_event = runtime::stream_wait_event,
    .live_allocations = runtime::live_allocations,
};

}  // namespace taper::kernels::cuda
