#include "taper/kernels/cuda/blas_lt.h"

#include <algorithm>
#include <cstdlib>

#include "numbers.h"
#include "signatures.h"
#include "support.h"
#include "taper/kernels/cuda/blas_lt_api.h"
#include "taper/kernels/emulator/control.h"
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

// The seam to cuBLASLt. Its results are in gemm.cpp, with the other products.

using namespace cuda_tests;
namespace blas_lt = kernels::cuda::blas_lt;

#if __has_include(<cublasLt.h>)
TEST_CASE("what is declared of cuBLASLt is what NVIDIA declares") {
#define TAPER_COMPARE(name, arguments) \
  STATIC_REQUIRE(SameSignature<decltype(blas_lt::Calls::name), decltype(&::name)>::value);
  TAPER_BLAS_LT_CALLS(TAPER_COMPARE)
#undef TAPER_COMPARE
  STATIC_REQUIRE(SameSignature<decltype(blas_lt::Calls::cublasLtGetStatusName),
                               decltype(&::cublasLtGetStatusName)>::value);
  using Theirs = cublasLtMatmulHeuristicResult_t;
  STATIC_REQUIRE(sizeof(blas_lt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
  STATIC_REQUIRE(sizeof(blas_lt::Choice) == sizeof(Theirs));
  STATIC_REQUIRE(offsetof(blas_lt::Choice, algorithm) == offsetof(Theirs, algo));
  STATIC_REQUIRE(offsetof(blas_lt::Choice, workspace) == offsetof(Theirs, workspaceSize));
  STATIC_REQUIRE(offsetof(blas_lt::Choice, status) == offsetof(Theirs, state));
  const auto is = [](auto ours, auto theirs) {
    return static_cast<int64_t>(ours) == static_cast<int64_t>(theirs);
  };
  using blas_lt::Epilogue, blas_lt::LayoutAttribute, blas_lt::PreferenceAttribute,
      blas_lt::WorkAttribute;
  CHECK(is(blas_lt::Status::kArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH));
  CHECK(is(blas_lt::Status::kNotSupported, CUBLAS_STATUS_NOT_SUPPORTED));
  CHECK(is(WorkAttribute::kTransposeA, CUBLASLT_MATMUL_DESC_TRANSA));
  CHECK(is(WorkAttribute::kTransposeB, CUBLASLT_MATMUL_DESC_TRANSB));
  CHECK(is(WorkAttribute::kEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE));
  CHECK(is(WorkAttribute::kBias, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
  CHECK(is(Epilogue::kNone, CUBLASLT_EPILOGUE_DEFAULT));
  CHECK(is(Epilogue::kBias, CUBLASLT_EPILOGUE_BIAS));
  CHECK(is(LayoutAttribute::kBatch, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
  CHECK(is(LayoutAttribute::kBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
  CHECK(is(PreferenceAttribute::kWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
  CHECK(is(PreferenceAttribute::kReductions, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK));
  CHECK(is(PreferenceAttribute::kAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
  CHECK(is(PreferenceAttribute::kAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
  CHECK(is(PreferenceAttribute::kAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
  CHECK(is(PreferenceAttribute::kAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
  CHECK(is(blas_lt::kReduceInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
}
#endif

namespace {

constexpr const char *kProduct = "cublasLtMatmul", *kSearch = "cublasLtMatmulAlgoGetHeuristic",
                     *kPlain = "cublasGemmStridedBatchedEx";

/// c = a * b + bias, `size` x `size`, with a memory of what was called for it.
struct WithBias {
  Twin<float> a, b, c, bias;
  GemmPlan plan{};

  explicit WithBias(int64_t size)
      : a(whole_numbers<float>(size * size + 1, 1)),
        b(whole_numbers<float>(size * size, 2)),
        c(static_cast<size_t>(size * size)),
        bias(whole_numbers<float>(size, 3)) {
    plan.dtype = kFloat;
    plan.batch = 1, plan.m = plan.n = plan.k = size;
    plan.lda = plan.ldb = plan.ldc = size;
    plan.alpha = 1;
  }
  Status run(int64_t offset_of_a = 0) {
    plan.a = a.host() + offset_of_a, plan.b = b.host(), plan.c = c.host(), plan.bias = bias.host();
    require_ok(kernels_for(kCPU).gemm(plan, stream_for(kCPU)));
    plan.a = a.device() + offset_of_a, plan.b = b.device(), plan.c = c.device();
    plan.bias = bias.device();
    return cuda_table().gemm(plan, cuda_stream());
  }
  bool is_right() {
    const std::vector<float> got = c.download();
    return std::equal(got.begin(), got.end(), c.host());
  }
};

bool own_is_asked_for() { return std::getenv("TAPER_BLAS") != nullptr; }

struct Calls {
  int64_t product = emulator::call_count(kProduct), search = emulator::call_count(kSearch),
          plain = emulator::call_count(kPlain);
  Calls operator-(const Calls& before) const {
    Calls since;
    since.product = product - before.product, since.search = search - before.search;
    since.plain = plain - before.plain;
    return since;
  }
  bool are(int64_t of_product, int64_t of_search, int64_t of_plain) const {
    return product == of_product && search == of_search && plain == of_plain;
  }
};

}  // namespace

TEST_CASE("a product with a bias is one call, and asks for an algorithm once") {
  if (own_is_asked_for()) return;
  WithBias nine(9), ten(10);
  const Calls before;
  require_ok(nine.run());
  CHECK(nine.is_right());
  require_ok(nine.run());
  require_ok(ten.run());
  CHECK(ten.is_right());
  CHECK((Calls() - before).are(3, 2, 0));
  // An operand that is less aligned is another problem: its algorithm reads other words.
  require_ok(nine.run(1));
  CHECK(nine.is_right());
  require_ok(nine.run(1));
  CHECK((Calls() - before).are(5, 3, 0));
  wait();
}

TEST_CASE("what cuBLASLt refuses, cuBLAS does from then on") {
  if (own_is_asked_for()) return;
  for (const char* const call : {kProduct, kSearch}) {
    INFO(call);
    WithBias product(call == kProduct ? 11 : 12);
    emulator::inject(call, 1, static_cast<int>(blas_lt::Status::kNotSupported));
    const Calls before;
    require_ok(product.run());
    CHECK(product.is_right());
    require_ok(product.run());
    CHECK(product.is_right());
    CHECK((Calls() - before).are(call == kProduct ? 1 : 0, 1, 2));
  }
  wait();
}

TEST_CASE("what cuBLASLt refuses while its stream is captured goes to cuBLAS, and the capture on") {
  if (own_is_asked_for()) return;
  WithBias known(14), product(15);
  require_ok(known.run());  // makes the handles
  const auto stream = static_cast<cudaStream_t>(cuda_stream().handle);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  emulator::inject(kSearch, 1, static_cast<int>(blas_lt::Status::kNotSupported));
  const Status status = product.run();
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  require_ok(status);
  REQUIRE(ended == cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
  CHECK(product.is_right());
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_CASE("a failure of cuBLASLt is told with the call, and the next one works") {
  if (own_is_asked_for()) return;
  WithBias product(13);
  for (const char* const call : {kSearch, kProduct}) {
    emulator::inject(call, 1, 14);
    const Status status = product.run();
    CHECK(status.code == Code::kDeviceError);
    CHECK(std::string(status.what) == call + std::string(": CUBLAS_STATUS_INTERNAL_ERROR (14)"));
  }
  require_ok(product.run());
  CHECK(product.is_right());
  wait();
}
