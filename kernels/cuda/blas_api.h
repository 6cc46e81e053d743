#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>

// What Taper calls of cuBLAS 12 and 13, declared here because the library is opened, not linked.
// tests/cuda/blas.cpp compares this page with NVIDIA's header.

namespace taper::kernels::cuda::blas {

using Handle = struct Context*;

enum class Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 3,
  kInvalidValue = 7,
  kArchMismatch = 8,
  kExecutionFailed = 13,
  kNotSupported = 15
};
enum class Operation : int { kAsStored = 0, kTransposed = 1 };
enum class Math : int { kDefault = 0, kNoReducedPrecisionReduction = 16 };
enum class Compute : int { kFloat = 68, kDouble = 70, kFloatByTf32 = 77 };
enum class Algorithm : int { kDefault = -1 };

/// The functions by their names in the library.
#define TAPER_BLAS_CALLS(_)                                                                        \
  _(cublasCreate_v2, (Handle*))                                                                    \
  _(cublasGetProperty, (libraryPropertyType, int* value))                                          \
  _(cublasSetStream_v2, (Handle, cudaStream_t))                                                    \
  _(cublasSetWorkspace_v2, (Handle, void* workspace, size_t bytes))                                \
  _(cublasSetMathMode, (Handle, Math))                                                             \
  _(cublasGemmStridedBatchedEx,                                                                    \
    (Handle, Operation a_operation, Operation b_operation, int m, int n, int k, const void* alpha, \
     const void* a, cudaDataType a_type, int lda, long long a_batch_stride, const void* b,         \
     cudaDataType b_type, int ldb, long long b_batch_stride, const void* beta, void* c,            \
     cudaDataType c_type, int ldc, long long c_batch_stride, int batch, Compute compute,           \
     Algorithm algorithm))

struct Calls {
#define TAPER_BLAS_MEMBER(name, arguments) Status(*name) arguments;
  TAPER_BLAS_CALLS(TAPER_BLAS_MEMBER)
#undef TAPER_BLAS_MEMBER
  const char* (*cublasGetStatusName)(Status);
};

}  // namespace taper::kernels::cuda::blas
