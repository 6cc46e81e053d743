// Convolutions with 3x3 kernels, pooling and batch norm.

#include "bench.h"

using namespace bench;
namespace F = torch::nn::functional;

static constexpr const char* kSection = "Convolution";

static void forward(Row& row, std::vector<int64_t> input, int64_t channels,
                    F::Conv2dFuncOptions options = F::Conv2dFuncOptions().padding(1),
                    int64_t kernel = 3) {
  const Tensor x = values(input), weight = values({channels, input[1], kernel, kernel}, -0.1, 0.1);
  options.bias(values({channels}));
  row.time([&] { return F::conv2d(x, weight, options); });
}

// With respect to one of input and weight.
static void backward(Row& row, std::vector<int64_t> input, int64_t channels, bool of_input) {
  const Tensor x = values(input).requires_grad_(of_input);
  const Tensor weight = values({channels, input[1], 3, 3}, -0.1, 0.1).requires_grad_(!of_input);
  const Tensor y = F::conv2d(x, weight, F::Conv2dFuncOptions().padding(1));
  const Tensor grad = values(y.sizes().vec(), -1, 1, 2);
  row.time([&] { return torch::autograd::grad({y}, {of_input ? x : weight}, {grad}, true); });
}

BENCH(kSection, kOther, "conv 8x64x56x56 -> 64") { forward(row, {8, 64, 56, 56}, 64); }
BENCH(kSection, kOther, "conv 256x1x28x28 -> 32") { forward(row, {256, 1, 28, 28}, 32); }
BENCH(kSection, kOther, "conv 256x32x14x14 -> 64") { forward(row, {256, 32, 14, 14}, 64); }
BENCH(kSection, kOther, "conv 8x128x28x28 -> 128") { forward(row, {8, 128, 28, 28}, 128); }
BENCH(kSection, kOther, "conv 8x256x14x14 -> 256") { forward(row, {8, 256, 14, 14}, 256); }
BENCH(kSection, kOther, "conv 1x32x14x14 -> 64") { forward(row, {1, 32, 14, 14}, 64); }
BENCH(kSection, kOther, "conv 8x64x56x56 -> 128, stride 2") {
  forward(row, {8, 64, 56, 56}, 128, F::Conv2dFuncOptions().padding(1).stride(2));
}
BENCH(kSection, kOther, "conv 8x256x14x14 -> 256, 1x1") {
  forward(row, {8, 256, 14, 14}, 256, F::Conv2dFuncOptions(), 1);
}
BENCH(kSection, kOther, "conv 256x32x14x14 -> 64, backward to input") {
  backward(row, {256, 32, 14, 14}, 64, true);
}
BENCH(kSection, kOther, "conv 256x32x14x14 -> 64, backward to weight") {
  backward(row, {256, 32, 14, 14}, 64, false);
}
BENCH(kSection, kOther, "conv 256x1x28x28 -> 32, backward to weight") {
  backward(row, {256, 1, 28, 28}, 32, false);
}
BENCH(kSection, kOther, "conv 8x64x56x56 -> 64, backward to input") {
  backward(row, {8, 64, 56, 56}, 64, true);
}
BENCH(kSection, kOther, "conv 8x64x56x56 -> 64, backward to weight") {
  backward(row, {8, 64, 56, 56}, 64, false);
}
BENCH(kSection, kOther, "max-pool 2, 256x32x28x28, forward") {
  const Tensor x = values({256, 32, 28, 28});
  row.time([&] { return F::max_pool2d(x, F::MaxPool2dFuncOptions(2)); });
}
BENCH(kSection, kOther, "max-pool 2, 256x32x28x28, backward") {
  const Tensor x = values({256, 32, 28, 28}).requires_grad_();
  const Tensor y = F::max_pool2d(x, F::MaxPool2dFuncOptions(2));
  const Tensor grad = values({256, 32, 14, 14}, -1, 1, 2);
  row.time([&] { return torch::autograd::grad({y}, {x}, {grad}, /*retain_graph=*/true); });
}
BENCH(kSection, kOther, "batch norm 32x64x28x28, training, forward") {
  torch::nn::BatchNorm2d norm(64);
  const Tensor x = values({32, 64, 28, 28});
  const torch::NoGradGuard no_grad;
  row.time([&] { return norm(x); });
}
BENCH(kSection, kOther, "batch norm 32x64x28x28, training, backward") {
  torch::nn::BatchNorm2d norm(64);
  const Tensor x = values({32, 64, 28, 28}).requires_grad_();
  const Tensor y = norm(x), grad = values({32, 64, 28, 28}, -1, 1, 2);
  row.time([&] { return torch::autograd::grad({y}, {x}, {grad}, /*retain_graph=*/true); });
}
