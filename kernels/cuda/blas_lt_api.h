#pragma once

#include <cstdint>

#include "taper/kernels/cuda/blas_api.h"

// What Taper calls of cuBLASLt, which comes with cuBLAS, declared here because the library is
// opened, not linked. tests/cuda/blas_lt.cpp compares this page with NVIDIA's header.

namespace taper::kernels::cuda::blas_lt {

using blas::Compute;
using blas::Operation;
using blas::Status;
using Handle = struct Context*;
using Description = struct WorkDescription*;
using Layout = struct MatrixLayout*;
using Preference = struct Wishes*;

/// Of a Description. An Operation; an Epilogue; a pointer to the bias.
enum class WorkAttribute : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBias = 8 };
enum class Epilogue : uint32_t { kNone = 1, kBias = 4 };
/// Of a Layout: int32_t; int64_t, in elements.
enum class LayoutAttribute : int { kBatch = 5, kBatchStride = 6 };
/// Of a Preference: size_t; a mask of uint32_t; and bytes, uint32_t.
enum class PreferenceAttribute : int {
  kWorkspace = 1,
  kReductions = 3,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};
/// How parts of a sum are added up: in the type that is computed in.
constexpr uint32_t kReduceInComputeType = 2;

struct Algorithm {
  uint64_t data[8];
};
/// An algorithm that might do, with what it needs.
struct Choice {
  Algorithm algorithm;
  size_t workspace;  ///< bytes
  Status status;
  float waves;
  int reserved[4];
};

/// The functions by their names in the library.
#define TAPER_BLAS_LT_CALLS(_)                                                                     \
  _(cublasLtCreate, (Handle*))                                                                     \
  _(cublasLtMatmulDescCreate, (Description*, Compute, cudaDataType scale))                         \
  _(cublasLtMatmulDescDestroy, (Description))                                                      \
  _(cublasLtMatmulDescSetAttribute, (Description, WorkAttribute, const void* value, size_t bytes)) \
  _(cublasLtMatrixLayoutCreate,                                                                    \
    (Layout*, cudaDataType, uint64_t rows, uint64_t columns, int64_t stride))                      \
  _(cublasLtMatrixLayoutDestroy, (Layout))                                                         \
  _(cublasLtMatrixLayoutSetAttribute, (Layout, LayoutAttribute, const void* value, size_t bytes))  \
  _(cublasLtMatmulPreferenceCreate, (Preference*))                                                 \
  _(cublasLtMatmulPreferenceDestroy, (Preference))                                                 \
  _(cublasLtMatmulPreferenceSetAttribute,                                                          \
    (Preference, PreferenceAttribute, const void* value, size_t bytes))                            \
  _(cublasLtMatmulAlgoGetHeuristic, (Handle, Description, Layout a, Layout b, Layout c, Layout d,  \
                                     Preference, int requested, Choice*, int* returned))           \
  _(cublasLtMatmul, (Handle, Description, const void* alpha, const void* a, Layout, const void* b, \
                     Layout, const void* beta, const void* c, Layout, void* d, Layout,             \
                     const Algorithm*, void* workspace, size_t bytes, cudaStream_t))

struct Calls {
#define TAPER_BLAS_LT_MEMBER(name, arguments) Status(*name) arguments;
  TAPER_BLAS_LT_CALLS(TAPER_BLAS_LT_MEMBER)
#undef TAPER_BLAS_LT_MEMBER
  const char* (*cublasLtGetStatusName)(Status);
};

}  // namespace taper::kernels::cuda::blas_lt
