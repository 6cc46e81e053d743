#include "taper/kernels/cuda/stream_mark.h"

#include <map>
#include <mutex>
#include <vector>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device_guard.h"

namespace taper::kernels::cuda {

namespace {

struct Pool {
  std::mutex mutex;
  std::map<int, std::vector<cudaEvent_t>> events;  // by device
};
Pool& pool() {
  static auto* const made = new Pool;
  return *made;
}

cudaEvent_t take(int device) {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  std::vector<cudaEvent_t>& events = p.events[device];
  if (events.empty()) return nullptr;
  const cudaEvent_t event = events.back();
  events.pop_back();
  return event;
}

}  // namespace

StreamMark::~StreamMark() {
  if (!event_) return;
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.events[device_].push_back(event_);
}

Status StreamMark::set(const StreamOnDevice& where) {
  TAPER_ON_DEVICE(where.device);
  if (event_ && device_ != where.device) *this = StreamMark();
  device_ = where.device;
  if (!event_) event_ = take(device_);
  if (!event_) TAPER_CUDA_TRY(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  TAPER_CUDA_TRY(cudaEventRecord(event_, where.stream));
  return {};
}

bool StreamMark::set_or_wait(const StreamOnDevice& where) {
  if (set(where).ok()) return true;
  const DeviceGuard guard(where.device);
  if (cudaStreamSynchronize(where.stream) != cudaSuccess) cudaGetLastError();
  return false;
}

bool StreamMark::passed() const {
  if (!event_) return true;
  const DeviceGuard guard(device_);
  const cudaError_t error = cudaEventQuery(event_);
  if (error != cudaSuccess) cudaGetLastError();
  return error != cudaErrorNotReady;
}

Status StreamMark::wait() const {
  if (!event_) return {};
  TAPER_ON_DEVICE(device_);
  TAPER_CUDA_TRY(cudaEventSynchronize(event_));
  return {};
}

Status StreamMark::hold(const StreamOnDevice& other) const {
  if (!event_) return {};
  TAPER_ON_DEVICE(other.device);
  TAPER_CUDA_TRY(cudaStreamWaitEvent(other.stream, event_, 0));
  return {};
}

void free_stream_marks() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (auto& [device, events] : p.events) {
    const DeviceGuard guard(device);
    for (const cudaEvent_t event : events) cudaEventDestroy(event);
  }
  p.events.clear();
}

}  // namespace taper::kernels::cuda
