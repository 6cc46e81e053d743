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

/// A failed call of cuBLAS or cuDNN by the library's name of the status, with what the runtime has
/// to say of it: "cublasCreate: CUBLAS_STATUS_ALLOC_FAILED (3)".
Status library_failed(const char* call, const char* name, int status);

/// What to tell of cudaErrorInitializationError; the emulator's devices survive a fork.
#ifdef TAPER_CUDA_HARDWARE
constexpr const char* kForkHint =
    ". Hint: a process that was forked after its parent used CUDA cannot use it";
#else
constexpr const char* kForkHint = "";
#endif

/// Whether a device is unusable after this error.
bool is_sticky(cudaError_t error);

}  // namespace taper::kernels::cuda
