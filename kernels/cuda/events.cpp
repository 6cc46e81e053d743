#include "taper/kernels/cuda/device_state.h"
#include "taper/kernels/cuda/runtime.h"

namespace taper::kernels::cuda::runtime {

namespace {

cudaEvent_t event_of(void* handle) { return static_cast<cudaEvent_t>(handle); }

}  // namespace

Status event_create(int device, bool timing, bool blocking, void** event) {
  *event = nullptr;
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(device, &state));
  TAPER_ON_DEVICE(device);
  const unsigned flags = (timing ? cudaEventDefault : cudaEventDisableTiming) |
                         (blocking ? cudaEventBlockingSync : cudaEventDefault);
  cudaEvent_t made = nullptr;
  TAPER_CUDA_TRY(cudaEventCreateWithFlags(&made, flags));
  *event = made;
  return {};
}

Status event_destroy(int device, void* event) {
  if (!event) return {};
  TAPER_ON_DEVICE(device);
  TAPER_CUDA_TRY(cudaEventDestroy(event_of(event)));
  return {};
}

Status event_record(void* event, Stream stream) {
  TAPER_ON_DEVICE(stream.device);
  TAPER_CUDA_TRY(cudaEventRecord(event_of(event), static_cast<cudaStream_t>(stream.handle)));
  return {};
}

Status event_query(int device, void* event, bool* done) {
  *done = false;
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(device, &state));
  TAPER_ON_DEVICE(device);
  const cudaError_t error = cudaEventQuery(event_of(event));
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return {};
  }
  if (error != cudaSuccess) return failed("cudaEventQuery", error);
  *done = true;
  return state->take_fault();
}

Status event_synchronize(int device, void* event) {
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(device, &state));
  TAPER_ON_DEVICE(device);
  TAPER_CUDA_TRY(cudaEventSynchronize(event_of(event)));
  return state->take_fault();
}

Status event_elapsed(int device, void* begin, void* end, float* milliseconds) {
  *milliseconds = 0;
  TAPER_ON_DEVICE(device);
  TAPER_CUDA_TRY(cudaEventElapsedTime(milliseconds, event_of(begin), event_of(end)));
  return {};
}

Status stream_wait_event(Stream stream, void* event) {
  TAPER_ON_DEVICE(stream.device);
  TAPER_CUDA_TRY(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream.handle), event_of(event), 0));
  return {};
}

}  // namespace taper::kernels::cuda::runtime
