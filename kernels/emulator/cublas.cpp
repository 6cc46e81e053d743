#include <algorithm>
#include <vector>

#include "taper/kernels/emulator/libraries.h"
#include "taper/kernels/emulator/machine.h"
#include "taper/kernels/emulator/numbers.h"

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

struct Matrix {
  void* data;
  int64_t stride, batch_stride;
  bool transposed;
};
struct Product {
  int m, n, k, batch;
  double alpha, beta;
  Matrix a, b, c;
};

/// By columns: (i, j) of a matrix that is not transposed is data[j * stride + i].
template <class T>
void multiply(const Product& p) {
  using C = decltype(widen(T()));
  std::vector<C> column(static_cast<size_t>(p.k)), sums(static_cast<size_t>(p.m));
  std::vector<C> rows(static_cast<size_t>(p.m) * static_cast<size_t>(p.k));
  for (int64_t matrix = 0; matrix < p.batch; ++matrix) {
    const T* const a = static_cast<const T*>(p.a.data) + matrix * p.a.batch_stride;
    const T* const b = static_cast<const T*>(p.b.data) + matrix * p.b.batch_stride;
    T* const c = static_cast<T*>(p.c.data) + matrix * p.c.batch_stride;
    for (int64_t k = 0; k < p.k; ++k) {
      for (int64_t i = 0; i < p.m; ++i) {
        rows[static_cast<size_t>(k * p.m + i)] =
            widen(a[p.a.transposed ? i * p.a.stride + k : k * p.a.stride + i]);
      }
    }
    for (int64_t j = 0; j < p.n; ++j) {
      std::fill(sums.begin(), sums.end(), C(0));
      for (int64_t k = 0; k < p.k; ++k) {
        const C factor = widen(b[p.b.transposed ? k * p.b.stride + j : j * p.b.stride + k]);
        const C* const row = rows.data() + k * p.m;
        for (int i = 0; i < p.m; ++i) sums[static_cast<size_t>(i)] += row[i] * factor;
      }
      for (int64_t i = 0; i < p.m; ++i) {
        T& to = c[j * p.c.stride + i];
        const C sum = static_cast<C>(p.alpha) * sums[static_cast<size_t>(i)];
        narrow(p.beta == 0 ? sum : sum + static_cast<C>(p.beta) * widen(to), to);
      }
    }
  }
}

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
                        {c, ldc, c_batch_stride, false}};
  const cudaError_t error = enqueue(handle->stream, "cublasGemmStridedBatchedEx", [=] {
    with_type(c_type, [&](auto type) { multiply<decltype(type)>(product); });
    return std::string();
  });
  return error == cudaSuccess ? Status::kSuccess : Status::kExecutionFailed;
}

}  // namespace

std::string library_problem() {
  return machine().options.libraries ? "" : "the emulator was asked for no libraries";
}

const char* name_of(Status status) {
  switch (static_cast<int>(status)) {
    case 0:
      return "CUBLAS_STATUS_SUCCESS";
    case 1:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case 3:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case 7:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case 13:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case 14:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case 15:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "cublas unknown status";
  }
}

Calls blas_calls() {
  return {.cublasCreate_v2 = create,
          .cublasGetProperty = get_property,
          .cublasSetStream_v2 = set_stream,
          .cublasSetWorkspace_v2 = set_workspace,
          .cublasSetMathMode = set_math_mode,
          .cublasGemmStridedBatchedEx = gemm,
          .cublasGetStatusName = name_of};
}

}  // namespace taper::emulator
