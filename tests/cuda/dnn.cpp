#include "taper/kernels/cuda/dnn.h"

#include <cstddef>
#include <cstdlib>

#include "numbers.h"
#include "signatures.h"
#include "support.h"
#include "taper/kernels/cuda/dnn_api.h"
#include "taper/kernels/emulator/control.h"
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

// The seam to cuDNN. Its results are in convolution.cpp.

using namespace cuda_tests;

#if __has_include(<cudnn.h>)
TEST_CASE("what is declared of cuDNN is what NVIDIA declares") {
  namespace dnn = kernels::cuda::dnn;
#define TAPER_COMPARE(name, arguments) \
  STATIC_REQUIRE(SameSignature<decltype(dnn::Calls::name), decltype(&::name)>::value);
  TAPER_DNN_CALLS(TAPER_COMPARE)
#undef TAPER_COMPARE
  STATIC_REQUIRE(
      SameSignature<decltype(dnn::Calls::cudnnGetVersion), decltype(&::cudnnGetVersion)>::value);
  STATIC_REQUIRE(SameSignature<decltype(dnn::Calls::cudnnGetErrorString),
                               decltype(&::cudnnGetErrorString)>::value);
#define TAPER_COMPARE(theirs)                                                          \
  STATIC_REQUIRE(sizeof(dnn::Choice) == sizeof(theirs));                               \
  STATIC_REQUIRE(offsetof(dnn::Choice, algorithm) == offsetof(theirs, algo));          \
  STATIC_REQUIRE(offsetof(dnn::Choice, status) == offsetof(theirs, status));           \
  STATIC_REQUIRE(offsetof(dnn::Choice, time) == offsetof(theirs, time));               \
  STATIC_REQUIRE(offsetof(dnn::Choice, memory) == offsetof(theirs, memory));           \
  STATIC_REQUIRE(offsetof(dnn::Choice, determinism) == offsetof(theirs, determinism)); \
  STATIC_REQUIRE(offsetof(dnn::Choice, math) == offsetof(theirs, mathType));
  TAPER_COMPARE(cudnnConvolutionFwdAlgoPerf_t)
  TAPER_COMPARE(cudnnConvolutionBwdDataAlgoPerf_t)
  TAPER_COMPARE(cudnnConvolutionBwdFilterAlgoPerf_t)
#undef TAPER_COMPARE
  CHECK(static_cast<int>(dnn::Status::kSuccess) == CUDNN_STATUS_SUCCESS);
  CHECK(static_cast<int>(dnn::Status::kNotInitialized) == CUDNN_STATUS_NOT_INITIALIZED);
  CHECK(static_cast<int>(dnn::Status::kInternal) == CUDNN_STATUS_INTERNAL_ERROR);
  CHECK(static_cast<int>(dnn::Status::kHostAllocFailed) ==
        CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  CHECK(static_cast<int>(dnn::Status::kDeviceAllocFailed) ==
        CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
  CHECK(static_cast<int>(dnn::Status::kBadParam) == CUDNN_STATUS_BAD_PARAM);
  CHECK(static_cast<int>(dnn::Status::kNotSupported) == CUDNN_STATUS_NOT_SUPPORTED);
  CHECK(static_cast<int>(dnn::Status::kFailed) == CUDNN_STATUS_EXECUTION_FAILED);
  CHECK(static_cast<int>(dnn::DataType::kFloat) == CUDNN_DATA_FLOAT);
  CHECK(static_cast<int>(dnn::DataType::kDouble) == CUDNN_DATA_DOUBLE);
  CHECK(static_cast<int>(dnn::DataType::kHalf) == CUDNN_DATA_HALF);
  CHECK(static_cast<int>(dnn::DataType::kBFloat16) == CUDNN_DATA_BFLOAT16);
  CHECK(static_cast<int>(dnn::Format::kNchw) == CUDNN_TENSOR_NCHW);
  CHECK(static_cast<int>(dnn::Mode::kCrossCorrelation) == CUDNN_CROSS_CORRELATION);
  CHECK(static_cast<int>(dnn::Math::kDefault) == CUDNN_DEFAULT_MATH);
  CHECK(static_cast<int>(dnn::Math::kTensorOp) == CUDNN_TENSOR_OP_MATH);
  CHECK(static_cast<int>(dnn::Math::kFma) == CUDNN_FMA_MATH);
  CHECK(static_cast<int>(dnn::Determinism::kYes) == CUDNN_DETERMINISTIC);
}
#endif

namespace {

struct Small {
  ConvPlan plan{};
  Twin<float> in{whole_numbers<float>(2 * 3 * 25, 1)}, weight{whole_numbers<float>(4 * 3 * 9, 2)};
  Twin<float> out{2 * 4 * 9};

  explicit Small(int64_t in_h) {
    plan.dtype = kFloat;
    plan.batch = 2, plan.in_channels = 3, plan.in_h = in_h, plan.in_w = 5;
    plan.out_channels = 4, plan.out_h = in_h - 2, plan.out_w = 3;
    plan.kernel_h = plan.kernel_w = 3;
    plan.stride_h = plan.stride_w = plan.dilation_h = plan.dilation_w = plan.groups = 1;
  }
  Status run() {
    return cuda_table().conv_forward(out.device(), in.device(), weight.device(), nullptr, false,
                                     plan, cuda_stream());
  }
};

bool own_is_asked_for() { return std::getenv("TAPER_DNN") != nullptr; }

}  // namespace

TEST_CASE("cuDNN is asked once for an algorithm for each problem") {
  CHECK(kernels::cuda::dnn_problem().empty());
  CHECK(kernels::cuda::dnn_version() >= 90000);
  if (own_is_asked_for()) return;
  const auto count = [] {
    return std::pair(emulator::call_count("cudnnGetConvolutionForwardAlgorithm_v7"),
                     emulator::call_count("cudnnConvolutionForward"));
  };
  Small five(5), four(4);
  require_ok(five.run());
  const auto before = count();
  require_ok(five.run());
  require_ok(four.run());
  require_ok(four.run());
  const auto after = count();
  CHECK(after.first - before.first == 1);
  CHECK(after.second - before.second == 3);
  wait();
}

TEST_CASE("where cuDNN refuses what it proposed, Taper's own kernel serves from then on") {
  if (own_is_asked_for()) return;
  Small small(3);
  const auto calls = [] { return emulator::call_count("cudnnConvolutionForward"); };
  emulator::inject("cudnnConvolutionForward", 1,
                   static_cast<int>(kernels::cuda::dnn::Status::kNotSupported));
  const int64_t before = calls();
  require_ok(small.run());
  CHECK(calls() == before + 1);
  require_ok(small.run());
  CHECK(calls() == before + 1);
  wait();
}

TEST_CASE("a failure of cuDNN is told with the call, and the next one works") {
  if (own_is_asked_for()) return;
  Small small(5);
  emulator::inject("cudnnConvolutionForward", 1);
  const Status status = small.run();
  CHECK(status.code == Code::kDeviceError);
  CHECK(std::string(status.what) ==
        "cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED (5000)");
  require_ok(small.run());
  wait();
}
