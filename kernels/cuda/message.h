#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "taper/kernels/status.h"

namespace taper::kernels::cuda {

/// The text for as long as the module lives: a Status holds a pointer, and there are few different
/// messages.
const char* keep(std::string message);

/// A failed call of the runtime as a Status: "cudaMalloc: cudaErrorMemoryAllocation: out of
/// memory".
Status failed(const char* call, cudaError_t error);

}  // namespace taper::kernels::cuda
