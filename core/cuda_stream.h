#pragma once

#include <cstdint>

#include "taper/core/cuda.h"

// Streams and events, with the meaning and the names of torch.cuda's.

// What cudaStream_t and cudaEvent_t point to; CUDA's own headers are not needed for that.
struct CUstream_st;
struct CUevent_st;

namespace taper::cuda {

class Event;

/// An ordered queue of work on one device. A handle: copies are the same stream. Work on different
/// streams runs side by side unless events order it.
class TAPER_API Stream {
 public:
  /// A stream of `device` (-1: the current one). Priority 0 is ordinary, -1 is high. There are 32
  /// of each kind; then they come round again, as in PyTorch, and live as long as the program.
  explicit Stream(DeviceIndex device = -1, int priority = 0);
  /// The stream that work goes to where no other was chosen.
  static Stream default_stream(DeviceIndex device = -1);

  DeviceIndex device_index() const { return device_; }
  Device device() const { return Device(kCUDA, device_); }
  /// The cudaStream_t, for work of the program's own: `kernel<<<grid, block, 0, stream>>>(...)`.
  CUstream_st* stream() const { return static_cast<CUstream_st*>(handle_); }
  operator CUstream_st*() const { return stream(); }
  /// Another one for each stream of a device.
  int64_t id() const { return static_cast<int64_t>(reinterpret_cast<intptr_t>(handle_)); }
  /// Waits until all its work has run.
  void synchronize() const;
  /// Whether all its work has run.
  bool query() const;
  /// What comes after this on the stream waits for the event, or for the other stream's work so
  /// far.
  void wait_event(const Event& event) const;
  void wait_stream(const Stream& other) const;
  void record_event(Event& event) const;
  bool operator==(const Stream& other) const {
    return device_ == other.device_ && handle_ == other.handle_;
  }

 private:
  friend TAPER_API Stream current_stream(DeviceIndex device);
  Stream(DeviceIndex device, void* handle) : device_(device), handle_(handle) {}

  DeviceIndex device_ = 0;
  void* handle_ = nullptr;
};

/// A point in a stream's work. Made on first use; `enable_timing` for elapsed_time.
class TAPER_API Event {
 public:
  explicit Event(bool enable_timing = false, bool blocking = false);
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;
  ~Event();

  /// On the current stream, or the given one.
  void record();
  void record(const Stream& stream);
  /// What comes after this on the stream waits. An event that was never recorded holds nobody up.
  void block(const Stream& stream) const;
  void wait(const Stream& stream) const { block(stream); }
  bool query() const;
  void synchronize() const;
  /// Milliseconds from this event to the later one; both with timing, recorded and past.
  float elapsed_time(const Event& later) const;
  bool is_created() const { return handle_ != nullptr; }
  /// The cudaEvent_t; null before the first record.
  CUevent_st* event() const { return static_cast<CUevent_st*>(handle_); }
  /// The device it was recorded on; -1 before the first record.
  DeviceIndex device_index() const { return device_; }

 private:
  friend class Stream;
  void* handle_ = nullptr;
  DeviceIndex device_ = -1;
  bool timing_, blocking_, recorded_ = false;
};

/// Where this thread's work on a device goes (-1: the current device).
TAPER_API Stream current_stream(DeviceIndex device = -1);
TAPER_API void set_stream(const Stream& stream);

/// The current stream of its device, and that device the current one, while this lives.
class TAPER_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  /// What was current on the stream's device before the guard, and what it has made so.
  Stream original_stream() const { return before_; }
  Stream current_stream() const { return now_; }
  Device original_device() const { return device_.original_device(); }
  Device current_device() const { return device_.current_device(); }

 private:
  DeviceGuard device_;
  Stream before_, now_;
};

}  // namespace taper::cuda
