#pragma once

#include <map>
#include <mutex>

#include "ATen/Context.h"
#include "c10/cuda/CUDAFunctions.h"
#include "c10/cuda/CUDAStream.h"
#if __has_include(<cuda_runtime_api.h>)
#include "ATen/cuda/Exceptions.h"

namespace at::cuda {

/// CUDA's own description of a device (-1: the current one). Asked for once; lives as long as the
/// program, which links CUDA's runtime.
inline const cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device = -1) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, cudaDeviceProp> known;
  if (device < 0) device = static_cast<c10::DeviceIndex>(c10::cuda::current_device());
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(device);
  if (is_new) {
    const cudaError_t error = cudaGetDeviceProperties(&found->second, device);
    if (error != cudaSuccess) known.erase(found);
    C10_CUDA_CHECK(error);
  }
  return &found->second;
}
inline const cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }

}  // namespace at::cuda
#endif
