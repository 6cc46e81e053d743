#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "taper/kernels/status.h"

namespace taper::kernels::cuda {

/// The text for as long as a Status with it is passed up: the last few hundred are kept.
const char* keep(std::string message);

/// A failed call of the runtime as a Status: "cudaMalloc: cudaErrorMemoryAllocation: out of
/// memory". Where the hardware trapped, with the latest launches: one of them did it.
Status failed(const char* call, cudaError_t error);
/// The same for what is not spelled as a call.
Status failed_at(std::string what, cudaError_t error);

/// A failed call of cuBLAS or cuDNN, with what the runtime has to say of it.
Status library_failed(const char* call, const char* library, int status);

/// Whether a device is unusable after this error.
bool is_sticky(cudaError_t error);

}  // namespace taper::kernels::cuda
