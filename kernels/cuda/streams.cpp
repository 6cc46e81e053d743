#include <algorithm>

#include "taper/kernels/cuda/device_state.h"
#include "taper/kernels/cuda/pinned.h"
#include "taper/kernels/cuda/runtime.h"

// Streams are non-blocking: none waits for the legacy stream, nor that one for them; but for the
// default one, as in PyTorch, where it is the legacy stream itself.

namespace taper::kernels::cuda::runtime {

Status default_stream(int device, void** handle) {
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(device, &state));
  *handle = state->stream;
  return {};
}

Status stream_priority_range(int* least, int* greatest) {
  TAPER_CUDA_TRY(cudaDeviceGetStreamPriorityRange(least, greatest));
  return {};
}

Status stream_create(int device, int priority, void** handle) {
  *handle = nullptr;
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(device, &state));
  TAPER_ON_DEVICE(device);
  int least = 0, greatest = 0;
  TAPER_TRY(stream_priority_range(&least, &greatest));
  cudaStream_t stream = nullptr;
  TAPER_CUDA_TRY(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                              std::clamp(priority, greatest, least)));
  *handle = stream;
  return {};
}

// The driver may give the same handle to a new stream. So what the caches remember of this one goes
// to the default stream, which first waits for what is still to run here.
Status stream_destroy(Stream stream) {
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(stream.device, &state));
  const StreamOnDevice gone{stream.device, static_cast<cudaStream_t>(stream.handle)};
  const StreamOnDevice heir{stream.device, state->stream};
  if (gone == heir) {
    return {Code::kInvalidValue, 0, 0, "stream_destroy: the default stream is not to be destroyed"};
  }
  StreamMark mark;
  Status status = mark.set(gone);
  if (status.ok()) status = mark.hold(heir);
  state->cache.inherit(gone, heir);
  inherit_pinned(gone, heir);
  TAPER_ON_DEVICE(stream.device);
  TAPER_CUDA_TRY(cudaStreamDestroy(gone.stream));
  return status;
}

Status stream_synchronize(Stream stream) {
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(stream.device, &state));
  TAPER_ON_DEVICE(stream.device);
  TAPER_CUDA_TRY(cudaStreamSynchronize(static_cast<cudaStream_t>(stream.handle)));
  return state->take_fault();
}

Status stream_query(Stream stream, bool* done) {
  *done = false;
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(stream.device, &state));
  TAPER_ON_DEVICE(stream.device);
  const cudaError_t error = cudaStreamQuery(static_cast<cudaStream_t>(stream.handle));
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return {};
  }
  if (error != cudaSuccess) return failed("cudaStreamQuery", error);
  *done = true;
  return state->take_fault();
}

Status device_synchronize(int device) {
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(device, &state));
  TAPER_ON_DEVICE(device);
  TAPER_CUDA_TRY(cudaDeviceSynchronize());
  return state->take_fault();
}

}  // namespace taper::kernels::cuda::runtime
