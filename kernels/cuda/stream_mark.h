#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "taper/kernels/status.h"

namespace taper::kernels::cuda {

/// A stream and the device that it belongs to.
struct StreamOnDevice {
  int device;
  cudaStream_t stream;
  friend bool operator==(const StreamOnDevice&, const StreamOnDevice&) = default;
};

/// A place in a stream: everything that the stream had been given when it was set. An event without
/// timing, from a pool per device.
class StreamMark {
 public:
  StreamMark() = default;
  StreamMark(StreamMark&& other) noexcept
      : device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}
  StreamMark& operator=(StreamMark&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~StreamMark();

  Status set(const StreamOnDevice& where);
  /// The same; where it fails, waits for the stream instead and leaves no mark: then everything has
  /// run, or the device is lost.
  bool set_or_wait(const StreamOnDevice& where);
  /// Also where the device is lost, so that nobody waits for ever.
  bool passed() const;
  /// Waits until it is passed.
  Status wait() const;
  /// What is given to `other` from now on waits for it.
  Status hold(const StreamOnDevice& other) const;

 private:
  int device_ = 0;
  cudaEvent_t event_ = nullptr;
};

/// Destroys the events of the pools.
void free_stream_marks();

}  // namespace taper::kernels::cuda
