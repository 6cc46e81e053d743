#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "taper/kernels/cuda/device/fault.cuh"
#include "taper/kernels/cuda/message.h"
#include "taper/kernels/device.h"

// What the host side of a kernel asks of its device: limits for the size of a grid, scratch memory,
// the word for faults. The table (module.cpp) has made the stream's device the current one.

namespace taper::kernels::cuda {

/// Asked of the driver once per device.
const DeviceProperties& properties_of(int device);

/// Where kernels of this stream's device report what they find wrong; see device/fault.cuh.
DeviceFault* fault_of(const Stream& stream);

/// From the caching allocator, in the stream's order: given back at once, it may be handed out
/// again on that stream, whose later work comes after the earlier.
Status allocate(void** memory, size_t bytes, Stream stream);
void release(void* memory);

/// Scratch memory of a kernel:
///   Scratch<float> sums(stream, blocks);
///   if (!sums.status().ok()) return sums.status();
template <class T>
class Scratch {
 public:
  Scratch(const Stream& stream, int64_t count)
      : status_(allocate(&memory_, static_cast<size_t>(count) * sizeof(T), stream)) {}
  ~Scratch() {
    if (memory_) release(memory_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const Status& status() const { return status_; }
  T* get() const { return static_cast<T*>(memory_); }

 private:
  void* memory_ = nullptr;
  Status status_;
};

}  // namespace taper::kernels::cuda

/// Leaves the function with a Status when a call of the CUDA runtime fails.
#define TAPER_CUDA_TRY(call)                                                                     \
  do {                                                                                           \
    const cudaError_t taper_error_ = (call);                                                     \
    if (taper_error_ != cudaSuccess) return ::taper::kernels::cuda::failed(#call, taper_error_); \
  } while (false)
/// Leaves the function with the Status of something that did not succeed.
#define TAPER_TRY(status)                                    \
  do {                                                       \
    const ::taper::kernels::Status taper_status_ = (status); \
    if (!taper_status_.ok()) return taper_status_;           \
  } while (false)
