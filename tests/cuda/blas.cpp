#include "taper/kernels/cuda/blas.h"

#include <cstdlib>

#include "numbers.h"
#include "signatures.h"
#include "support.h"
#include "taper/kernels/cuda/blas_api.h"
#include "taper/kernels/emulator/control.h"
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

// The seam to cuBLAS. Its results are in gemm.cpp.

using namespace cuda_tests;

#if __has_include(<cublas_v2.h>)
namespace theirs {

using ::cublasCreate_v2;
using ::cublasGetProperty;
using ::cublasGetStatusName;
using ::cublasSetMathMode;
using ::cublasSetStream_v2;
using ::cublasSetWorkspace_v2;

// NVIDIA's has an overload besides, and so no one type.
using Gemm = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                            const void*, const void*, cudaDataType, int, long long, const void*,
                            cudaDataType, int, long long, const void*, void*, cudaDataType, int,
                            long long, int, cublasComputeType_t, cublasGemmAlgo_t);
using Checked = decltype(static_cast<Gemm*>(&::cublasGemmStridedBatchedEx));
Gemm cublasGemmStridedBatchedEx;

}  // namespace theirs

TEST_CASE("what is declared of cuBLAS is what NVIDIA declares") {
  namespace blas = kernels::cuda::blas;
#define TAPER_COMPARE(name, arguments) \
  STATIC_REQUIRE(SameSignature<decltype(blas::Calls::name), decltype(&theirs::name)>::value);
  TAPER_BLAS_CALLS(TAPER_COMPARE)
#undef TAPER_COMPARE
  STATIC_REQUIRE(SameSignature<decltype(blas::Calls::cublasGetStatusName),
                               decltype(&theirs::cublasGetStatusName)>::value);
  CHECK(static_cast<int>(blas::Status::kSuccess) == CUBLAS_STATUS_SUCCESS);
  CHECK(static_cast<int>(blas::Status::kNotInitialized) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(static_cast<int>(blas::Status::kAllocFailed) == CUBLAS_STATUS_ALLOC_FAILED);
  CHECK(static_cast<int>(blas::Status::kInvalidValue) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(static_cast<int>(blas::Status::kExecutionFailed) == CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK(static_cast<int>(blas::Operation::kAsStored) == CUBLAS_OP_N);
  CHECK(static_cast<int>(blas::Operation::kTransposed) == CUBLAS_OP_T);
  CHECK(static_cast<int>(blas::Math::kDefault) == CUBLAS_DEFAULT_MATH);
  CHECK(static_cast<int>(blas::Math::kNoReducedPrecisionReduction) ==
        CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  CHECK(static_cast<int>(blas::Compute::kFloat) == CUBLAS_COMPUTE_32F);
  CHECK(static_cast<int>(blas::Compute::kDouble) == CUBLAS_COMPUTE_64F);
  CHECK(static_cast<int>(blas::Compute::kFloatByTf32) == CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(static_cast<int>(blas::Algorithm::kDefault) == CUBLAS_GEMM_DEFAULT);
}
#endif

namespace {

constexpr const char* kCall = "cublasGemmStridedBatchedEx";

struct Square {
  Twin<float> a{whole_numbers<float>(64, 1)}, b{whole_numbers<float>(64, 2)}, c{64};
  GemmPlan plan{};

  Square() {
    plan.dtype = kFloat;
    plan.batch = 1, plan.m = plan.n = plan.k = 8;
    plan.a = a.device(), plan.b = b.device(), plan.c = c.device();
    plan.lda = plan.ldb = plan.ldc = 8;
    plan.alpha = 1;
  }
  int64_t calls_of_blas() {
    const int64_t before = emulator::call_count(kCall);
    require_ok(cuda_table().gemm(plan, cuda_stream()));
    return emulator::call_count(kCall) - before;
  }
};

bool own_is_asked_for() { return std::getenv("TAPER_BLAS") != nullptr; }

}  // namespace

TEST_CASE("cuBLAS computes what it can describe") {
  CHECK(kernels::cuda::blas_problem().empty());
  CHECK(kernels::cuda::blas_version() >= 120000);
  if (own_is_asked_for()) return;
  Square square;
  CHECK(square.calls_of_blas() == 1);
  square.plan.a_transposed = square.plan.b_transposed = true;
  CHECK(square.calls_of_blas() == 1);
  // Rows that overlap, a sum of nothing, nothing at all: no words for these.
  square.plan.lda = 4;
  CHECK(square.calls_of_blas() == 0);
  square.plan.lda = 8, square.plan.k = 0;
  CHECK(square.calls_of_blas() == 0);
  square.plan.k = 8, square.plan.n = 0;
  CHECK(square.calls_of_blas() == 0);
  wait();
}

TEST_CASE("a failure of cuBLAS is told with the call, and the next one works") {
  if (own_is_asked_for()) return;
  Square square;
  emulator::inject(kCall, 1);
  const Status status = cuda_table().gemm(square.plan, cuda_stream());
  CHECK(status.code == Code::kDeviceError);
  CHECK(std::string(status.what) == kCall + std::string(": CUBLAS_STATUS_EXECUTION_FAILED (13)"));
  CHECK(square.calls_of_blas() == 1);
  wait();
}
