#include <cstring>

#include "taper/kernels/cuda/device_state.h"
#include "taper/kernels/cuda/pinned.h"
#include "taper/kernels/cuda/runtime.h"

namespace taper::kernels::cuda::runtime {

namespace {

StreamOnDevice place_of(const Stream& stream) {
  return {stream.device, static_cast<cudaStream_t>(stream.handle)};
}

/// From ordinary memory up to this many bytes go through pinned memory of ours.
constexpr size_t kMostStaged = size_t{16} << 20;

// Whether the driver has read ordinary memory when its call returns, and whether it waits for the
// stream meanwhile, is not promised. So it is read here, and the copy is an ordinary one.
Status copy_staged(void* to, const void* from, size_t bytes, const StreamOnDevice& stream) {
  void* staged = nullptr;
  TAPER_TRY(allocate_pinned(&staged, bytes));
  std::memcpy(staged, from, bytes);
  const cudaError_t error =
      cudaMemcpyAsync(to, staged, bytes, cudaMemcpyHostToDevice, stream.stream);
  if (error == cudaSuccess) record_pinned(staged, stream);
  release_pinned(staged);
  if (error != cudaSuccess) return failed("cudaMemcpyAsync", error);
  return {};
}

// The driver goes through the host by itself where one device cannot reach the other.
Status copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes,
                    const StreamOnDevice& stream, const StreamOnDevice& other) {
  DeviceState *source = nullptr, *target = nullptr;
  TAPER_TRY(state_of(from_device, &source));
  TAPER_TRY(state_of(to_device, &target));
  TAPER_TRY(source->enable_peer(to_device));
  TAPER_TRY(target->enable_peer(from_device));
  StreamMark before, after;
  TAPER_TRY(before.set(other));
  TAPER_TRY(before.hold(stream));
  {
    TAPER_ON_DEVICE(stream.device);
    TAPER_CUDA_TRY(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream.stream));
  }
  TAPER_TRY(after.set(stream));
  return after.hold(other);
}

}  // namespace

// Managed memory belongs to the device that the driver names.
Status device_of(const void* memory, int* device) {
  TAPER_ON_DEVICE(device_for_pinning());
  cudaPointerAttributes attributes{};
  TAPER_CUDA_TRY(cudaPointerGetAttributes(&attributes, memory));
  const bool of_device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  *device = of_device ? attributes.device : kHost;
  return {};
}

Status copy(void* to, int to_device, const void* from, int from_device, size_t bytes, Stream stream,
            Stream other_stream, bool non_blocking) {
  if (bytes == 0) return {};
  const bool to_host = to_device == kHost, from_host = from_device == kHost;
  if (!to_host && !from_host && to_device != from_device) {
    return copy_between(to, to_device, from, from_device, bytes, place_of(stream),
                        place_of(other_stream));
  }
  TAPER_ON_DEVICE(stream.device);
  if (from_host && !to_host && bytes <= kMostStaged && !is_pinned(from)) {
    const Status status = copy_staged(to, from, bytes, place_of(stream));
    if (status.code != Code::kOutOfMemory) return status;  // the system may limit pinned memory
  }
  const cudaMemcpyKind kind = to_host
                                  ? (from_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost)
                                  : (from_host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice);
  const bool from_pinned = from_host && is_pinned(from), to_pinned = to_host && is_pinned(to);
  TAPER_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, kind, static_cast<cudaStream_t>(stream.handle)));
  // Pinned memory may be read and written while the stream runs. When other memory has been is for
  // the driver to decide, unless it is waited for.
  const bool all_pinned = from_host == from_pinned && to_host == to_pinned;
  if ((from_host || to_host) && !(non_blocking && all_pinned)) return stream_synchronize(stream);
  if (from_pinned) record_pinned(from, place_of(stream));
  if (to_pinned) record_pinned(to, place_of(stream));
  return {};
}

}  // namespace taper::kernels::cuda::runtime
