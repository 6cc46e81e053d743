#include "taper/autograd/streams.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "taper/core/cuda_stream.h"
#include "taper/core/error.h"
#include "taper/core/thread_state.h"
#include "taper/kernels/device_module.h"

namespace taper::autograd {

namespace {

using detail::kMaxCudaDevices;
using detail::thread_state;

// Streams live as long as the program, and there are few.
struct Recorded {
  std::mutex mutex;
  std::vector<cuda::Stream> streams[kMaxCudaDevices];
  std::atomic<bool> any{false};
};
Recorded& recorded() {
  static auto* const made = new Recorded;
  return *made;
}

bool other_than_default(DeviceIndex device) { return thread_state.cuda_streams[device] != nullptr; }

/// visit(current stream of a device, another that graphs were recorded on)
template <class Visit>
void for_each_pair(const Visit& visit) {
  for (DeviceIndex device = 0; device < kMaxCudaDevices; ++device) {
    std::vector<cuda::Stream> others;
    {
      Recorded& all = recorded();
      const std::lock_guard lock(all.mutex);
      others = all.streams[device];
    }
    if (others.empty() && !other_than_default(device)) continue;
    others.push_back(cuda::Stream::default_stream(device));
    const cuda::Stream current = cuda::current_stream(device);
    for (const cuda::Stream& other : others) {
      if (!(other == current)) visit(current, other);
    }
  }
}

}  // namespace

void note_recording_stream(DeviceIndex device) {
  if (!other_than_default(device)) return;
  const cuda::Stream stream = cuda::current_stream(device);
  Recorded& all = recorded();
  const std::lock_guard lock(all.mutex);
  std::vector<cuda::Stream>& known = all.streams[device];
  if (std::find(known.begin(), known.end(), stream) == known.end()) known.push_back(stream);
  all.any.store(true, std::memory_order_relaxed);
}

StreamsOfBackward::StreamsOfBackward() {
  if (!kernels::cuda_module_is_loaded()) return;
  const auto& streams = thread_state.cuda_streams;
  joined_ = recorded().any.load(std::memory_order_relaxed) ||
            std::any_of(std::begin(streams), std::end(streams), [](void* s) { return s; });
  if (!joined_) return;
  for_each_pair(
      [](const cuda::Stream& current, const cuda::Stream& other) { current.wait_stream(other); });
}

StreamsOfBackward::~StreamsOfBackward() {
  if (!joined_) return;
  try {
    for_each_pair(
        [](const cuda::Stream& current, const cuda::Stream& other) { other.wait_stream(current); });
  } catch (const Error&) {
    // Of a device that was lost: every later call says so.
  }
}

}  // namespace taper::autograd
