#include <algorithm>
#include <cstring>

#include "taper/kernels/emulator/blas_product.h"
#include "taper/kernels/emulator/libraries.h"
#include "taper/kernels/emulator/machine.h"

// cuBLASLt, the calls in blas_lt_api.h.

namespace taper::kernels::cuda::blas_lt {

/// What the handles point to.
struct Context {
  int device = 0;
};
struct WorkDescription {
  Compute compute = Compute::kFloat;
  cudaDataType scale = CUDA_R_32F;
  Operation a = Operation::kAsStored, b = Operation::kAsStored;
  Epilogue epilogue = Epilogue::kNone;
  const void* bias = nullptr;
};
struct MatrixLayout {
  cudaDataType type = CUDA_R_32F;
  int64_t rows = 0, columns = 0, stride = 0, batch_stride = 0;
  int32_t batch = 1;
};
struct Wishes {
  size_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};  ///< of a, b, c and d
};

}  // namespace taper::kernels::cuda::blas_lt

namespace taper::emulator {

namespace {

using namespace kernels::cuda::blas_lt;

/// Of a call that fails because it was asked to, or because the device is lost.
Status refusal(const Entry& entry) {
  return entry.injected() ? static_cast<Status>(entry.injected()) : Status::kExecutionFailed;
}

/// Takes the call's place and an injected failure.
#define TAPER_BLAS_LT_ENTRY(name)       \
  Entry entry(#name, Entry::kOrdinary); \
  if (entry.refused()) return refusal(entry);

/// An attribute's value, if it has the size that it is documented with.
template <class T>
Status take(T& to, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return Status::kInvalidValue;
  std::memcpy(&to, value, bytes);
  return Status::kSuccess;
}

template <class T>
Status destroy_object(T* object) {
  delete object;
  return Status::kSuccess;
}

Status create_handle(Handle* handle) {
  TAPER_BLAS_LT_ENTRY(cublasLtCreate)
  *handle = new Context{host_thread().device};
  return Status::kSuccess;
}

Status create_work(Description* work, Compute compute, cudaDataType scale) {
  TAPER_BLAS_LT_ENTRY(cublasLtMatmulDescCreate)
  *work = new WorkDescription{.compute = compute, .scale = scale};
  return Status::kSuccess;
}
Status set_work(Description work, WorkAttribute attribute, const void* value, size_t bytes) {
  TAPER_BLAS_LT_ENTRY(cublasLtMatmulDescSetAttribute)
  switch (attribute) {
    case WorkAttribute::kTransposeA:
      return take(work->a, value, bytes);
    case WorkAttribute::kTransposeB:
      return take(work->b, value, bytes);
    case WorkAttribute::kEpilogue:
      return take(work->epilogue, value, bytes);
    case WorkAttribute::kBias:
      return take(work->bias, value, bytes);
  }
  return Status::kInvalidValue;
}

Status create_layout(Layout* layout, cudaDataType type, uint64_t rows, uint64_t columns,
                     int64_t stride) {
  TAPER_BLAS_LT_ENTRY(cublasLtMatrixLayoutCreate)
  *layout = new MatrixLayout{.type = type,
                             .rows = static_cast<int64_t>(rows),
                             .columns = static_cast<int64_t>(columns),
                             .stride = stride};
  return Status::kSuccess;
}
Status set_layout(Layout layout, LayoutAttribute attribute, const void* value, size_t bytes) {
  TAPER_BLAS_LT_ENTRY(cublasLtMatrixLayoutSetAttribute)
  switch (attribute) {
    case LayoutAttribute::kBatch:
      return take(layout->batch, value, bytes);
    case LayoutAttribute::kBatchStride:
      return take(layout->batch_stride, value, bytes);
  }
  return Status::kInvalidValue;
}

Status create_wishes(Preference* wishes) {
  TAPER_BLAS_LT_ENTRY(cublasLtMatmulPreferenceCreate)
  *wishes = new Wishes;
  return Status::kSuccess;
}
Status set_wishes(Preference wishes, PreferenceAttribute attribute, const void* value,
                  size_t bytes) {
  TAPER_BLAS_LT_ENTRY(cublasLtMatmulPreferenceSetAttribute)
  switch (attribute) {
    case PreferenceAttribute::kWorkspace:
      return take(wishes->workspace, value, bytes);
    case PreferenceAttribute::kReductions:
      return take(wishes->reductions, value, bytes);
    case PreferenceAttribute::kAlignmentA:
    case PreferenceAttribute::kAlignmentB:
    case PreferenceAttribute::kAlignmentC:
    case PreferenceAttribute::kAlignmentD:
      return take(wishes->alignment[static_cast<int>(attribute) - 5], value, bytes);
  }
  return Status::kInvalidValue;
}

bool is_turned(Operation operation) { return operation == Operation::kTransposed; }

/// Whether the pieces fit together: op(a) is m x k, op(b) k x n, c and d m x n.
bool is_sound(const WorkDescription& work, const MatrixLayout& a, const MatrixLayout& b,
              const MatrixLayout& c, const MatrixLayout& d) {
  const int64_t m = is_turned(work.a) ? a.columns : a.rows;
  const int64_t k = is_turned(work.a) ? a.rows : a.columns;
  const bool sizes = k == (is_turned(work.b) ? b.columns : b.rows) && c.rows == m && d.rows == m &&
                     c.columns == d.columns &&
                     c.columns == (is_turned(work.b) ? b.rows : b.columns);
  const bool wide = work.compute == Compute::kDouble;
  const bool types = work.scale == (wide ? CUDA_R_64F : CUDA_R_32F) &&
                     (a.type == CUDA_R_64F) == wide && a.type == b.type && a.type == c.type &&
                     a.type == d.type;
  bool strides = true, batches = true;
  for (const MatrixLayout* const matrix : {&a, &b, &c, &d}) {
    strides &= matrix->stride >= matrix->rows;
    batches &= matrix->batch == a.batch;
  }
  return sizes && types && strides && batches;
}

/// What the emulated algorithm counts on; it lies in Algorithm::data.
struct Promise {
  uint32_t alignment[4];
  uint64_t bias_alignment, workspace;
};
static_assert(sizeof(Promise) <= sizeof(Algorithm));

uint64_t alignment_of(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p) | 256;
  return address & (~address + 1);
}

/// One algorithm, which reads in as long words as the alignments allow, with a workspace where it
/// may have one.
Status propose(Handle, Description work, Layout a, Layout b, Layout c, Layout d, Preference wishes,
               int requested, Choice* choices, int* returned) {
  TAPER_BLAS_LT_ENTRY(cublasLtMatmulAlgoGetHeuristic)
  *returned = 0;
  if (requested <= 0 || !is_sound(*work, *a, *b, *c, *d)) return Status::kInvalidValue;
  Promise promise{};
  std::memcpy(promise.alignment, wishes->alignment, sizeof promise.alignment);
  promise.bias_alignment = alignment_of(work->bias);
  promise.workspace = std::min<size_t>(wishes->workspace, 1 << 10);
  choices[0] = {};
  std::memcpy(choices[0].algorithm.data, &promise, sizeof promise);
  choices[0].workspace = promise.workspace;
  choices[0].waves = 1;
  *returned = 1;
  return Status::kSuccess;
}

Status multiply_with(Handle handle, Description work, const void* alpha, const void* a,
                     Layout a_layout, const void* b, Layout b_layout, const void* beta,
                     const void* c, Layout c_layout, void* d, Layout d_layout,
                     const Algorithm* algorithm, void* workspace, size_t bytes,
                     cudaStream_t stream) {
  TAPER_BLAS_LT_ENTRY(cublasLtMatmul)
  if (!is_sound(*work, *a_layout, *b_layout, *c_layout, *d_layout) || c != d) {
    return Status::kInvalidValue;
  }
  Promise promise{};
  std::memcpy(&promise, algorithm->data, sizeof promise);
  const void* const data[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    if (machine().device_of(data[i]) != handle->device) return Status::kInvalidValue;
    if (alignment_of(data[i]) < promise.alignment[i]) return Status::kInvalidValue;
  }
  const bool has_bias = work->epilogue == Epilogue::kBias;
  if (has_bias && (machine().device_of(work->bias) != handle->device ||
                   alignment_of(work->bias) < promise.bias_alignment)) {
    return Status::kInvalidValue;
  }
  if (bytes < promise.workspace ||
      (promise.workspace > 0 && machine().device_of(workspace) != handle->device)) {
    return Status::kInvalidValue;
  }
  const bool wide = work->compute == Compute::kDouble;
  const auto number = [&](const void* p) {
    return wide ? *static_cast<const double*>(p) : double{*static_cast<const float*>(p)};
  };
  const auto matrix = [](const void* from, const MatrixLayout& layout, bool turned) {
    return Matrix{const_cast<void*>(from), layout.stride, layout.batch_stride, turned};
  };
  if (work->compute == Compute::kFloatByTf32) ++machine().calls["tf32"];
  const Product product{static_cast<int>(d_layout->rows),
                        static_cast<int>(d_layout->columns),
                        static_cast<int>(is_turned(work->a) ? a_layout->rows : a_layout->columns),
                        d_layout->batch,
                        number(alpha),
                        number(beta),
                        matrix(a, *a_layout, is_turned(work->a)),
                        matrix(b, *b_layout, is_turned(work->b)),
                        matrix(d, *d_layout, false),
                        has_bias ? work->bias : nullptr};
  const cudaError_t error =
      enqueue(stream, "cublasLtMatmul", [product, workspace, promise, type = d_layout->type] {
        if (promise.workspace > 0) std::memset(workspace, 0, promise.workspace);
        multiply(type, product);
        return std::string();
      });
  return error == cudaSuccess ? Status::kSuccess : Status::kExecutionFailed;
}

}  // namespace

Calls blas_lt_calls() {
  return {.cublasLtCreate = create_handle,
          .cublasLtMatmulDescCreate = create_work,
          .cublasLtMatmulDescDestroy = destroy_object<WorkDescription>,
          .cublasLtMatmulDescSetAttribute = set_work,
          .cublasLtMatrixLayoutCreate = create_layout,
          .cublasLtMatrixLayoutDestroy = destroy_object<MatrixLayout>,
          .cublasLtMatrixLayoutSetAttribute = set_layout,
          .cublasLtMatmulPreferenceCreate = create_wishes,
          .cublasLtMatmulPreferenceDestroy = destroy_object<Wishes>,
          .cublasLtMatmulPreferenceSetAttribute = set_wishes,
          .cublasLtMatmulAlgoGetHeuristic = propose,
          .cublasLtMatmul = multiply_with,
          .cublasLtGetStatusName = blas_status_name};
}

}  // namespace taper::emulator
