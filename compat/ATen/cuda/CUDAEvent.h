#pragma once

#include <optional>

#include "c10/cuda/CUDAStream.h"

namespace at::cuda {

/// Made with CUDA's flags, as LibTorch's: without `cudaEventDisableTiming` (2) it takes times.
class CUDAEvent : public ::taper::cuda::Event {
 public:
  CUDAEvent() = default;
  explicit CUDAEvent(unsigned flags)
      : Event(/*enable_timing=*/!(flags & 2), /*blocking=*/(flags & 1) != 0) {}
  bool isCreated() const { return is_created(); }
  /// Where it was recorded; nothing before.
  std::optional<c10::Device> device() const {
    return isCreated() ? std::optional(c10::Device(c10::kCUDA, device_index())) : std::nullopt;
  }
  operator CUevent_st*() const { return event(); }
  /// Records where it was not recorded yet.
  void recordOnce(const CUDAStream& stream) {
    if (!isCreated()) record(stream);
  }
};

}  // namespace at::cuda
