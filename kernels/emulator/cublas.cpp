#include <algorithm>

#include "taper/kernels/emulator/blas_product.h"
#include "taper/kernels/emulator/libraries.h"
#include "taper/kernels/emulator/machine.h"

// cuBLAS, the calls in blas_api.h.

namespace taper::kernels::cuda::blas {

/// What a Handle points to.
struct Context {
  int device = 0;
  cudaStream_t stream = nullptr;
};

}  // namespace taper::kernels::cuda::blas

namespace taper::emulator {

namespace {

using namespace kernels::cuda::blas;

/// Of a call that fails because it was asked to, or because the device is lost.
Status refusal(const Entry& entry) {
  return entry.injected() ? static_cast<Status>(entry.injected()) : Status::kExecutionFailed;
}

/// Takes the call's place and an injected failure.
#define TAPER_BLAS_ENTRY(name)          \
  Entry entry(#name, Entry::kOrdinary); \
  if (entry.refused()) return refusal(entry);

Status create(Handle* handle) {
  TAPER_BLAS_ENTRY(cublasCreate)
  *handle = new Context{host_thread().device, nullptr};
  return Status::kSuccess;
}

Status get_property(libraryPropertyType type, int* value) {
  *value = type == MAJOR_VERSION ? 13 : 0;
  return Status::kSuccess;
}

Status set_stream(Handle handle, cudaStream_t stream) {
  TAPER_BLAS_ENTRY(cublasSetStream)
  if (stream && !find_stream(stream)) return Status::kInvalidValue;
  handle->stream = stream;
  return Status::kSuccess;
}

Status set_workspace(Handle handle, void* workspace, size_t) {
  TAPER_BLAS_ENTRY(cublasSetWorkspace)
  if (!workspace) return Status::kSuccess;
  const bool aligned = reinterpret_cast<uintptr_t>(workspace) % 256 == 0;
  return aligned && machine().device_of(workspace) == handle->device ? Status::kSuccess
                                                                     : Status::kInvalidValue;
}

Status set_math_mode(Handle, Math) { return Status::kSuccess; }

Status gemm(Handle handle, Operation a_operation, Operation b_operation, int m, int n, int k,
            const void* alpha, const void* a, cudaDataType a_type, int lda,
            long long a_batch_stride, const void* b, cudaDataType b_type, int ldb,
            long long b_batch_stride, const void* beta, void* c, cudaDataType c_type, int ldc,
            long long c_batch_stride, int batch, Compute compute, Algorithm) {
  TAPER_BLAS_ENTRY(cublasGemmStridedBatchedEx)
  const bool a_turned = a_operation == Operation::kTransposed;
  const bool b_turned = b_operation == Operation::kTransposed;
  if (m < 0 || n < 0 || k < 0 || batch < 0 || lda < std::max(1, a_turned ? k : m) ||
      ldb < std::max(1, b_turned ? n : k) || ldc < std::max(1, m)) {
    return Status::kInvalidValue;
  }
  const bool wide = compute == Compute::kDouble;
  if (a_type != b_type || a_type != c_type || (a_type == CUDA_R_64F) != wide) {
    return Status::kInvalidValue;
  }
  for (const void* const p : {a, b, static_cast<const void*>(c)}) {
    if (machine().device_of(p) != handle->device) return Status::kInvalidValue;
  }
  const auto number = [&](const void* p) {
    return wide ? *static_cast<const double*>(p) : double{*static_cast<const float*>(p)};
  };
  if (compute == Compute::kFloatByTf32) ++machine().calls["tf32"];
  const Product product{m,
                        n,
                        k,
                        batch,
                        number(alpha),
                        number(beta),
                        {const_cast<void*>(a), lda, a_batch_stride, a_turned},
                        {const_cast<void*>(b), ldb, b_batch_stride, b_turned},
                        {c, ldc, c_batch_stride, false},
                        nullptr};
  const cudaError_t error = enqueue(handle->stream, "cublasGemmStridedBatchedEx", [=] {
    multiply(c_type, product);
    return std::string();
  });
  return error == cudaSuccess ? Status::kSuccess : Status::kExecutionFailed;
}

}  // namespace

std::string library_problem() {
  return machine().options.libraries ? "" : "the emulator was asked for no libraries";
}

Calls blas_calls() {
  return {.cublasCreate_v2 = create,
          .cublasGetProperty = get_property,
          .cublasSetStream_v2 = set_stream,
          .cublasSetWorkspace_v2 = set_workspace,
          .cublasSetMathMode = set_math_mode,
          .cublasGemmStridedBatchedEx = gemm,
          .cublasGetStatusName = blas_status_name};
}

}  // namespace taper::emulator
