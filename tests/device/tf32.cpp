#include <ATen/Context.h>

#include "device.h"
#include "taper/autograd/autograd.h"

// Which products a card may do in TF32. The emulator counts them; it does not round.

using namespace device_tests;

namespace {

int64_t in_tf32(const std::function<void()>& run) { return count_calls("tf32", run); }

Tensor filled(IntArrayRef sizes, ScalarType dtype) { return ones(sizes, on_cuda(dtype)); }

}  // namespace

TEST_CASE("matrix products are done in TF32 where that was allowed") {
  const auto product = [](ScalarType dtype) {
    filled({4, 4}, dtype).mm(filled({4, 4}, dtype));
    filled({2, 4, 4}, dtype).bmm(filled({2, 4, 4}, dtype));
  };
  CHECK_FALSE(cuda::allow_tf32_matmul());
  CHECK(in_tf32([&] { product(kFloat); }) == 0);
  at::globalContext().setAllowTF32CuBLAS(true);
  CHECK(cuda::allow_tf32_matmul());
  CHECK(in_tf32([&] { product(kFloat); }) == 2);
  CHECK(in_tf32([&] { product(kDouble), product(kHalf); }) == 0);
  cuda::set_allow_tf32_matmul(false);
  CHECK_FALSE(at::globalContext().allowTF32CuBLAS());
  CHECK(in_tf32([&] { product(kFloat); }) == 0);
}

TEST_CASE("convolutions are done in TF32 unless that was forbidden") {
  const auto convolution = [](ScalarType dtype) {
    const Tensor x = filled({1, 8, 6, 6}, dtype).requires_grad_();
    const Tensor w = filled({8, 8, 3, 3}, dtype).requires_grad_();
    conv2d(x, w).sum().backward();
  };
  CHECK(cuda::allow_tf32_cudnn());
  CHECK(in_tf32([&] { convolution(kFloat); }) == 3);  // forward, and both gradients
  CHECK(in_tf32([&] { convolution(kDouble), convolution(kHalf); }) == 0);
  at::globalContext().setAllowTF32CuDNN(false);
  CHECK(in_tf32([&] { convolution(kFloat); }) == 0);
  cuda::set_allow_tf32_cudnn(true);
  CHECK(at::globalContext().allowTF32CuDNN());
  CHECK(in_tf32([&] { convolution(kFloat); }) == 3);
}
