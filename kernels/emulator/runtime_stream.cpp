#include <algorithm>

#include "taper/kernels/emulator/control.h"
#include "taper/kernels/emulator/machine.h"
#include "taper/kernels/emulator/sanitizers.h"

// The CUDA runtime: streams and events.

using namespace taper::emulator;

namespace {

Event* find_event(cudaEvent_t handle) {
  auto* const event = reinterpret_cast<Event*>(handle);
  return machine().events.count(event) ? event : nullptr;
}

cudaError_t make_stream(Entry& entry, cudaStream_t* handle, unsigned flags, int priority) {
  if ((flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) {
    return entry.end(cudaErrorInvalidValue);
  }
  auto* const stream = new Stream;
  stream->device = host_thread().device;
  stream->flags = flags;
  stream->priority = std::clamp(priority, -5, 0);
  stream->made = entry.site();
  stream->identity = create_identity();
  machine().streams.insert(stream);
  *handle = reinterpret_cast<cudaStream_t>(stream);
  return cudaSuccess;
}

cudaError_t device_error(int device) {
  return machine().devices[static_cast<size_t>(device)]->sticky;
}

// A call that waits for a stream which is being captured would wait for ever.
cudaError_t refuse_capture(Entry& entry, const char* name, Capture* capture) {
  capture->invalid = true;
  machine().report = std::string(name) + " at " + to_text(entry.site()) +
                     " is illegal while the stream is captured";
  return entry.end(cudaErrorStreamCaptureUnsupported);
}
// And one that asks the legacy stream asks all that are not non-blocking.
cudaError_t refuse_capture_beside(Entry& entry, const char* name, Capture* capture) {
  capture->invalid = true;
  machine().report = std::string(name) + " at " + to_text(entry.site()) +
                     " of the legacy stream is illegal while a blocking stream is captured";
  return entry.end(cudaErrorStreamCaptureImplicit);
}

cudaError_t record(Entry& entry, cudaEvent_t handle, cudaStream_t stream_handle) {
  Event* const event = find_event(handle);
  Stream* const stream = find_stream(stream_handle);
  if (!event || !stream) return entry.end(cudaErrorInvalidResourceHandle);
  if (stream->capture) {
    event->capture = stream->capture;
    event->capture_after = stream->capture_after;
    return cudaSuccess;
  }
  auto work = std::make_shared<Work>();
  work->what = "cudaEventRecord";
  work->site = entry.site();
  event->capture = nullptr;
  event->work = work;
  return entry.end(enqueue(*stream, std::move(work)));
}

}  // namespace

// ---- Streams ------------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  TAPER_CUDA_CALL(cudaStreamCreate, kOrdinary);
  return make_stream(entry, stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  TAPER_CUDA_CALL(cudaStreamCreateWithFlags, kOrdinary);
  return make_stream(entry, stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  TAPER_CUDA_CALL(cudaStreamCreateWithPriority, kOrdinary);
  return make_stream(entry, stream, flags, priority);
}

/// What is queued still runs, as CUDA promises.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  TAPER_CUDA_CALL(cudaStreamDestroy, kAlways);
  Stream* const stream = find_stream(handle);
  if (!stream || machine().streams.count(stream) == 0) {
    return entry.end(cudaErrorInvalidResourceHandle);
  }
  if (stream->capture) return refuse_capture(entry, "cudaStreamDestroy", stream->capture);
  drain(*stream);
  machine().streams.erase(stream);
  destroy_identity(stream->identity);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  TAPER_CUDA_CALL(cudaStreamSynchronize, kOrdinary);
  Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  if (stream->capture) return refuse_capture(entry, "cudaStreamSynchronize", stream->capture);
  if (Capture* const beside = capture_beside(*stream)) {
    return refuse_capture_beside(entry, "cudaStreamSynchronize", beside);
  }
  machine().count_wait();
  drain(*stream);
  return entry.end(device_error(stream->device));
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  TAPER_CUDA_CALL(cudaStreamQuery, kOrdinary);
  Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  if (stream->capture) return refuse_capture(entry, "cudaStreamQuery", stream->capture);
  if (Capture* const beside = capture_beside(*stream)) {
    return refuse_capture_beside(entry, "cudaStreamQuery", beside);
  }
  if (!stream->queue.empty()) return cudaErrorNotReady;
  drain(*stream);
  return entry.end(device_error(stream->device));
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  TAPER_CUDA_CALL(cudaStreamGetPriority, kOrdinary);
  const Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  *priority = stream->priority;
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  TAPER_CUDA_CALL(cudaStreamGetFlags, kOrdinary);
  const Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  *flags = stream->flags;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
  TAPER_CUDA_CALL(cudaStreamWaitEvent, kOrdinary);
  Stream* const stream = find_stream(handle);
  const Event* const event = find_event(event_handle);
  if (!stream || !event) return entry.end(cudaErrorInvalidResourceHandle);
  if (event->capture) {  // a fork of a captured stream, or its join
    if (machine().captures.count(event->capture) == 0) return entry.end(cudaErrorInvalidValue);
    if (stream->capture && stream->capture != event->capture) {
      stream->capture->invalid = event->capture->invalid = true;
      return entry.end(cudaErrorStreamCaptureIsolation);
    }
    stream->capture = event->capture;
    stream->capture_after.insert(stream->capture_after.end(), event->capture_after.begin(),
                                 event->capture_after.end());
    return cudaSuccess;
  }
  if (stream->capture) {
    stream->capture->invalid = true;
    return entry.end(cudaErrorStreamCaptureIsolation);
  }
  if (!event->work) return cudaSuccess;  // never recorded: nothing to wait for
  auto work = std::make_shared<Work>();
  work->what = "cudaStreamWaitEvent";
  work->site = entry.site();
  work->after.push_back(event->work);
  return entry.end(enqueue(*stream, std::move(work)));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* argument) {
  TAPER_CUDA_CALL(cudaLaunchHostFunc, kOrdinary);
  Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  auto work = std::make_shared<Work>();
  work->what = "cudaLaunchHostFunc";
  work->site = entry.site();
  work->run = [=, &m = machine()] {
    ++m.writes_to_host;
    show_accesses();
    function(argument);
    hide_accesses();
    return std::string();
  };
  return entry.end(enqueue(*stream, std::move(work)));
}

// ---- Events -------------------------------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
  TAPER_CUDA_CALL(cudaEventCreateWithFlags, kOrdinary);
  auto* const event = new Event;
  event->flags = flags;
  event->made = entry.site();
  machine().events.insert(event);
  *handle = reinterpret_cast<cudaEvent_t>(event);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* handle) {
  return cudaEventCreateWithFlags(handle, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  TAPER_CUDA_CALL(cudaEventDestroy, kAlways);
  Event* const event = find_event(handle);
  if (!event) return entry.end(cudaErrorInvalidResourceHandle);
  machine().events.erase(event);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  TAPER_CUDA_CALL(cudaEventRecord, kOrdinary);
  return record(entry, event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  TAPER_CUDA_CALL(cudaEventRecordWithFlags, kOrdinary);
  return record(entry, event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  TAPER_CUDA_CALL(cudaEventQuery, kOrdinary);
  const Event* const event = find_event(handle);
  if (!event) return entry.end(cudaErrorInvalidResourceHandle);
  if (event->capture) return entry.end(cudaErrorCapturedEvent);
  if (!event->work) return cudaSuccess;
  if (!event->work->done) return cudaErrorNotReady;
  run_until(event->work);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  TAPER_CUDA_CALL(cudaEventSynchronize, kOrdinary);
  const Event* const event = find_event(handle);
  if (!event) return entry.end(cudaErrorInvalidResourceHandle);
  if (event->capture) return refuse_capture(entry, "cudaEventSynchronize", event->capture);
  machine().count_wait();
  run_until(event->work);
  return entry.end(machine().here().sticky);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  TAPER_CUDA_CALL(cudaEventElapsedTime, kOrdinary);
  const Event* const from = find_event(start);
  const Event* const to = find_event(end);
  if (!from || !to || !from->work || !to->work ||
      ((from->flags | to->flags) & cudaEventDisableTiming) != 0) {
    return entry.end(cudaErrorInvalidResourceHandle);
  }
  if (!from->work->done || !to->work->done) return entry.end(cudaErrorNotReady);
  *milliseconds =
      std::chrono::duration<float, std::milli>(to->work->when - from->work->when).count();
  return cudaSuccess;
}
