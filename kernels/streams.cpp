// core/cuda_stream.h: streams, events and their guards.

#include "taper/kernels/streams.h"

#include <mutex>

#include "taper/core/cuda_stream.h"
#include "taper/core/error.h"
#include "taper/core/thread_state.h"
#include "taper/kernels/backend.h"
#include "taper/kernels/device_module.h"

namespace taper {

using kernels::check_runtime;
using kernels::cuda_module;

namespace {

kernels::Stream as_stream(DeviceIndex device, void* handle) {
  return {kernels::stream_for(kCPU).host, handle, device};
}

/// Streams of one device and priority, made when first handed out.
struct Pool {
  static constexpr unsigned kSize = 32;
  void* handles[kSize] = {};
  unsigned next = 0;
};

void* pooled(DeviceIndex device, int priority) {
  static auto* const mutex = new std::mutex;
  static auto* const pools = new Pool[taper::detail::kMaxCudaDevices][2];
  const std::lock_guard lock(*mutex);
  Pool& pool = pools[device][priority < 0];
  void*& handle = pool.handles[pool.next];
  if (!handle) {
    check_runtime(cuda_module("cuda::Stream").runtime.stream_create(device, priority, &handle),
                  "cuda::Stream", Device(kCUDA, device));
  }
  pool.next = (pool.next + 1) % Pool::kSize;
  return handle;
}

void* default_handle(DeviceIndex device) {
  void* handle = nullptr;
  check_runtime(cuda_module("cuda::Stream").runtime.default_stream(device, &handle), "cuda::Stream",
                Device(kCUDA, device));
  return handle;
}

}  // namespace

kernels::Stream kernels::current_cuda_stream(DeviceIndex device) {
  void* const handle = taper::detail::thread_state.cuda_streams[device];
  return as_stream(device, handle ? handle : default_handle(device));
}

namespace cuda {

Stream::Stream(DeviceIndex device, int priority)
    : device_(taper::detail::resolve_cuda(Device(kCUDA, device)).index()) {
  TAPER_CHECK(priority <= 0, "Expected cuda stream priority to be less than or equal to 0, got ",
              priority);
  handle_ = pooled(device_, priority);
}

Stream Stream::default_stream(DeviceIndex device) {
  device = taper::detail::resolve_cuda(Device(kCUDA, device)).index();
  return Stream(device, default_handle(device));
}

void Stream::synchronize() const {
  check_runtime(
      cuda_module("Stream::synchronize").runtime.stream_synchronize(as_stream(device_, handle_)),
      "Stream::synchronize", device());
}

bool Stream::query() const {
  bool done = false;
  check_runtime(
      cuda_module("Stream::query").runtime.stream_query(as_stream(device_, handle_), &done),
      "Stream::query", device());
  return done;
}

void Stream::wait_event(const Event& event) const { event.block(*this); }

void Stream::wait_stream(const Stream& other) const {
  Event event;
  event.record(other);
  event.block(*this);
}

void Stream::record_event(Event& event) const { event.record(*this); }

Stream current_stream(DeviceIndex device) {
  device = taper::detail::resolve_cuda(Device(kCUDA, device)).index();
  return Stream(device, kernels::current_cuda_stream(device).handle);
}

void set_stream(const Stream& stream) {
  taper::detail::thread_state.cuda_streams[stream.device_index()] = stream.stream();
}

StreamGuard::StreamGuard(const Stream& stream)
    : device_(stream.device()),
      before_(::taper::cuda::current_stream(stream.device_index())),
      now_(stream) {
  set_stream(stream);
}
StreamGuard::~StreamGuard() { set_stream(before_); }

// ---- Events.

Event::Event(bool enable_timing, bool blocking) : timing_(enable_timing), blocking_(blocking) {}

Event::Event(Event&& other) noexcept
    : handle_(other.handle_),
      device_(other.device_),
      timing_(other.timing_),
      blocking_(other.blocking_),
      recorded_(other.recorded_) {
  other.handle_ = nullptr;
  other.recorded_ = false;
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(device_, other.device_);
  std::swap(timing_, other.timing_);
  std::swap(blocking_, other.blocking_);
  std::swap(recorded_, other.recorded_);
  return *this;
}

Event::~Event() {
  if (handle_) (void)cuda_module("cuda::Event").runtime.event_destroy(device_, handle_);
}

void Event::record() { record(current_stream()); }

void Event::record(const Stream& stream) {
  const auto& runtime = cuda_module("Event::record").runtime;
  if (!handle_) {
    check_runtime(runtime.event_create(stream.device_index(), timing_, blocking_, &handle_),
                  "Event::record", stream.device());
    device_ = stream.device_index();
  }
  TAPER_CHECK(device_ == stream.device_index(),
              "Event::record: the event belongs to cuda:", int(device_), ", the stream to ",
              stream.device());
  check_runtime(runtime.event_record(handle_, as_stream(stream.device_index(), stream.stream())),
                "Event::record", stream.device());
  recorded_ = true;
}

void Event::block(const Stream& stream) const {
  if (!recorded_) return;
  check_runtime(
      cuda_module("Event::block")
          .runtime.stream_wait_event(as_stream(stream.device_index(), stream.stream()), handle_),
      "Event::block", stream.device());
}

bool Event::query() const {
  if (!recorded_) return true;
  bool done = false;
  check_runtime(cuda_module("Event::query").runtime.event_query(device_, handle_, &done),
                "Event::query", Device(kCUDA, device_));
  return done;
}

void Event::synchronize() const {
  if (!recorded_) return;
  check_runtime(cuda_module("Event::synchronize").runtime.event_synchronize(device_, handle_),
                "Event::synchronize", Device(kCUDA, device_));
}

float Event::elapsed_time(const Event& later) const {
  TAPER_CHECK(recorded_ && later.recorded_,
              "Event::elapsed_time: both events must be recorded before calculating elapsed time.");
  TAPER_CHECK(timing_ && later.timing_,
              "Event::elapsed_time: both events must be created with enable_timing = true.");
  float milliseconds = 0;
  check_runtime(cuda_module("Event::elapsed_time")
                    .runtime.event_elapsed(later.device_, handle_, later.handle_, &milliseconds),
                "Event::elapsed_time", Device(kCUDA, device_));
  return milliseconds;
}

}  // namespace cuda

}  // namespace taper
