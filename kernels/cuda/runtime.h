#pragma once

#include "taper/kernels/cuda/context.h"

// The entries of DeviceRuntime, by their names there, in namespace runtime; runtime.cpp lists them.

namespace taper::kernels::cuda {

#if defined(TAPER_CUDA_HARDWARE) || defined(__CUDACC__)
constexpr bool kEmulated = false;
#else
constexpr bool kEmulated = true;
#endif

extern const DeviceRuntime kRuntime;

/// Asked of the driver once per device.
Status find_properties(int device, const DeviceProperties** properties);

/// What a call whose launches were waited for has to report of them. The op's name is left out: the
/// caller knows it.
Status fault_of_this_call(const Stream& stream);

/// A library's handle takes memory of the card beside the allocator's. Where `create` fails and
/// `is_short` says that it may be for that, the caches are given back and it is called again.
/// Returns `failed` of the last status; kOutOfMemory where memory is still short.
template <class Create, class IsShort, class Failed>
Status create_handle(const Create& create, const IsShort& is_short, const Failed& failed) {
  auto status = create();
  if (is_short(status) && kRuntime.empty_cache().ok()) status = create();
  Status result = failed(status);
  if (is_short(status)) result.code = Code::kOutOfMemory;
  return result;
}

namespace runtime {

// devices.cpp
Status device_count(int* count);
Status properties(int device, DeviceProperties* properties);
Status versions(DeviceVersions* versions);
Status can_access_peer(int device, int peer, bool* answer);
Status set_device(int device, bool only_if_used);

// copies.cpp
Status device_of(const void* memory, int* device);
Status copy(void* to, int to_device, const void* from, int from_device, size_t bytes, Stream stream,
            Stream other_stream, bool non_blocking);

// streams.cpp
Status default_stream(int device, void** handle);
Status stream_create(int device, int priority, void** handle);
Status stream_destroy(Stream stream);
Status stream_synchronize(Stream stream);
Status stream_query(Stream stream, bool* done);
Status stream_priority_range(int* least, int* greatest);
Status device_synchronize(int device);

// events.cpp
Status event_create(int device, bool timing, bool blocking, void** event);
Status event_destroy(int device, void* event);
Status event_record(void* event, Stream stream);
Status event_query(int device, void* event, bool* done);
Status event_synchronize(int device, void* event);
Status event_elapsed(int device, void* begin, void* end, float* milliseconds);
Status stream_wait_event(Stream stream, void* event);

}  // namespace runtime

}  // namespace taper::kernels::cuda
