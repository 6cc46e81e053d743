#pragma once

#include "c10/names.h"
#include "taper/core/cuda_stream.h"
// Where there are CUDA's headers, the macros for its errors come along, as in LibTorch.
#if __has_include(<cuda_runtime_api.h>)
#include "c10/cuda/CUDAException.h"
#endif

namespace c10::cuda {

using CUDAStream = ::taper::cuda::Stream;

inline CUDAStream getStreamFromPool(bool isHighPriority = false, c10::DeviceIndex device = -1) {
  return CUDAStream(device, isHighPriority ? -1 : 0);
}
inline CUDAStream getStreamFromPool(int priority, c10::DeviceIndex device = -1) {
  return CUDAStream(device, priority);
}
inline CUDAStream getDefaultCUDAStream(c10::DeviceIndex device = -1) {
  return CUDAStream::default_stream(device);
}
inline CUDAStream getCurrentCUDAStream(c10::DeviceIndex device = -1) {
  return ::taper::cuda::current_stream(device);
}
inline void setCurrentCUDAStream(CUDAStream stream) { ::taper::cuda::set_stream(stream); }

}  // namespace c10::cuda

/// Default streams have the same number on every device, so that the device counts too.
template <>
struct std::hash<::taper::cuda::Stream> {
  size_t operator()(const ::taper::cuda::Stream& stream) const noexcept {
    const auto device = static_cast<size_t>(static_cast<uint8_t>(stream.device_index()));
    return std::hash<int64_t>()(stream.id()) ^ device << 48;
  }
};

namespace at::cuda {

using c10::cuda::CUDAStream;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::getStreamFromPool;
using c10::cuda::setCurrentCUDAStream;

}  // namespace at::cuda
