#pragma once

#include <optional>

#include "c10/cuda/CUDAStream.h"
#include "taper/core/tensor.h"

namespace c10::cuda {

using CUDAGuard = ::taper::cuda::DeviceGuard;
using CUDAStreamGuard = ::taper::cuda::StreamGuard;

/// A guard only where a device is given: `OptionalCUDAGuard guard(at::device_of(x))`. A tensor on
/// the CPU changes nothing.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device && device->is_cuda()) guard_.emplace(*device);
  }

 private:
  std::optional<CUDAGuard> guard_;
};

}  // namespace c10::cuda

namespace at {

/// Where a tensor is; nothing for an undefined one.
inline std::optional<c10::Device> device_of(const ::taper::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor.device()) : std::nullopt;
}

}  // namespace at

namespace at::cuda {

using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::OptionalCUDAGuard;

}  // namespace at::cuda
