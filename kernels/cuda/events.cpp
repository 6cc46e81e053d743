#include <memory>

#include "taper/kernels/cuda/device_state.h"
#include "taper/kernels/cuda/runtime.h"

namespace taper::kernels::cuda::runtime {

namespace {

/// What an event's handle points to.
struct Event {
  int device;
  cudaEvent_t event;
};
Event& event_of(void* handle) { return *static_cast<Event*>(handle); }

}  // namespace

Status event_create(int device, bool timing, bool blocking, void** event) {
  *event = nullptr;
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(device, &state));
  TAPER_ON_DEVICE(device);
  auto made = std::make_unique<Event>(Event{device, nullptr});
  const unsigned flags = (timing ? cudaEventDefault : cudaEventDisableTiming) |
                         (blocking ? cudaEventBlockingSync : cudaEventDefault);
  TAPER_CUDA_TRY(cudaEventCreateWithFlags(&made->event, flags));
  *event = made.release();
  return {};
}

Status event_destroy(int, void* event) {
  if (!event) return {};
  const std::unique_ptr<Event> mine(&event_of(event));
  TAPER_ON_DEVICE(mine->device);
  TAPER_CUDA_TRY(cudaEventDestroy(mine->event));
  return {};
}

Status event_record(void* event, Stream stream) {
  TAPER_ON_DEVICE(stream.device);
  TAPER_CUDA_TRY(cudaEventRecord(event_of(event).event, static_cast<cudaStream_t>(stream.handle)));
  return {};
}

Status event_query(void* event, bool* done) {
  *done = false;
  const Event& mine = event_of(event);
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(mine.device, &state));
  TAPER_ON_DEVICE(mine.device);
  const cudaError_t error = cudaEventQuery(mine.event);
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return {};
  }
  if (error != cudaSuccess) return failed("cudaEventQuery", error);
  *done = true;
  return state->take_fault();
}

Status event_synchronize(void* event) {
  const Event& mine = event_of(event);
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(mine.device, &state));
  TAPER_ON_DEVICE(mine.device);
  TAPER_CUDA_TRY(cudaEventSynchronize(mine.event));
  return state->take_fault();
}

Status event_elapsed(void* begin, void* end, float* milliseconds) {
  *milliseconds = 0;
  TAPER_ON_DEVICE(event_of(end).device);
  TAPER_CUDA_TRY(cudaEventElapsedTime(milliseconds, event_of(begin).event, event_of(end).event));
  return {};
}

Status stream_wait_event(Stream stream, void* event) {
  TAPER_ON_DEVICE(stream.device);
  TAPER_CUDA_TRY(
      cudaStreamWaitEvent(static_cast<cudaStream_t>(stream.handle), event_of(event).event, 0));
  return {};
}

}  // namespace taper::kernels::cuda::runtime
