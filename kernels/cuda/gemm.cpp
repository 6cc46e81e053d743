#include "taper/kernels/cuda/gemm.h"

#include <algorithm>

#include "taper/kernels/cuda/blas.h"
#include "taper/kernels/cuda/kernels.h"

// The entry for matrix products: cuBLAS where it serves, else Taper's own kernels.

namespace taper::kernels::cuda {

namespace {

constexpr int64_t kMostRows = (int64_t{1} << 31) - 1024;

Status run(const GemmPlan& plan, const Stream& stream) {
  switch (plan.dtype) {
    case kFloat:
      return gemm_float(plan, stream);
    case kDouble:
      return gemm_double(plan, stream);
    case kHalf:
      return gemm_half(plan, stream);
    case kBFloat16:
      return gemm_bfloat16(plan, stream);
    default:
      return gemm_integer(plan, stream);
  }
}

const void* advanced(const void* data, int64_t elements, ScalarType dtype) {
  return static_cast<const char*>(data) + elements * static_cast<int64_t>(element_size(dtype));
}

}  // namespace

Status own_gemm(const GemmPlan& plan, const Stream& stream, int64_t matrices_per_launch) {
  if (plan.batch == 0 || plan.m == 0 || plan.n == 0) return {};
  if (std::max({plan.m, plan.n, plan.k}) > kMostRows) {
    return {Code::kInvalidValue, 0, 0, "a matrix with 2^31 rows or columns"};
  }
  for (int64_t first = 0; first < plan.batch; first += matrices_per_launch) {
    GemmPlan part = plan;
    part.batch = std::min(matrices_per_launch, plan.batch - first);
    part.a = advanced(plan.a, first * plan.a_batch_stride, plan.dtype);
    part.b = advanced(plan.b, first * plan.b_batch_stride, plan.dtype);
    part.c = const_cast<void*>(advanced(plan.c, first * plan.c_batch_stride, plan.dtype));
    const Status status = run(part, stream);
    if (!status.ok()) return status;
  }
  return {};
}

Status gemm(const GemmPlan& plan, Stream stream) {
  if (plan.batch == 0 || plan.m == 0 || plan.n == 0) return {};
  return suits_blas(plan) ? blas_gemm(plan, stream) : own_gemm(plan, stream);
}

}  // namespace taper::kernels::cuda
