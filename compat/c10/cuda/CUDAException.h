#pragma once

#include <cuda_runtime_api.h>

#include "c10/util/Exception.h"

// Errors of the CUDA calls that a program makes itself, as exceptions. This header alone needs
// CUDA's own headers, and a program that uses it links CUDA's runtime.

#define C10_CUDA_CHECK(call)                                                                   \
  do {                                                                                         \
    const cudaError_t taper_status = (call);                                                   \
    TORCH_CHECK(taper_status == cudaSuccess, "CUDA error: ", cudaGetErrorString(taper_status), \
                " (", #call, " at ", __FILE__, ":", __LINE__, ")");                            \
  } while (false)
/// For where nothing can be thrown, as in a destructor: tells of the error and takes it back.
#define C10_CUDA_CHECK_WARN(call)                                     \
  do {                                                                \
    const cudaError_t taper_status = (call);                          \
    if (taper_status != cudaSuccess) {                                \
      static_cast<void>(cudaGetLastError());                          \
      TORCH_WARN("CUDA warning: ", cudaGetErrorString(taper_status)); \
    }                                                                 \
  } while (false)
/// After `kernel<<<...>>>`: whether the launch itself was refused.
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
