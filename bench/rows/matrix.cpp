// Matrix products.

#include "bench.h"

using namespace bench;

static constexpr const char* kSection = "Matrix products";

BENCH(kSection, kOther, "matmul 64") {
  const Tensor a = values({64, 64}), b = values({64, 64}, -1, 1, 2);
  row.time([&] { return torch::matmul(a, b); });
}
BENCH(kSection, kOther, "matmul 256") {
  const Tensor a = values({256, 256}), b = values({256, 256}, -1, 1, 2);
  row.time([&] { return torch::matmul(a, b); });
}
BENCH(kSection, kOther, "matmul 1024") {
  const Tensor a = values({1024, 1024}), b = values({1024, 1024}, -1, 1, 2);
  row.time([&] { return torch::matmul(a, b); });
}
BENCH(kSection, kOther, "matmul 1024, second transposed") {
  const Tensor a = values({1024, 1024}), b = values({1024, 1024}, -1, 1, 2);
  row.time([&] { return torch::matmul(a, b.t()); });
}
BENCH(kSection, kOther, "matmul 512 in float64") {
  const Tensor a = values({512, 512}).to(torch::kDouble);
  const Tensor b = values({512, 512}, -1, 1, 2).to(torch::kDouble);
  row.time([&] { return torch::matmul(a, b); });
}
BENCH(kSection, kOther, "matrix 1024x1024 times vector") {
  const Tensor a = values({1024, 1024}), b = values({1024}, -1, 1, 2);
  row.time([&] { return torch::matmul(a, b); });
}
BENCH(kSection, kOther, "bmm 32 x 128x128") {
  const Tensor a = values({32, 128, 128}), b = values({32, 128, 128}, -1, 1, 2);
  row.time([&] { return torch::bmm(a, b); });
}
BENCH(kSection, kOther, "bmm 512 x 16x16") {
  const Tensor a = values({512, 16, 16}), b = values({512, 16, 16}, -1, 1, 2);
  row.time([&] { return torch::bmm(a, b); });
}
BENCH(kSection, kOther, "linear 32x784 -> 256") {
  const Tensor x = values({32, 784}), weight = values({256, 784}), bias = values({256});
  row.time([&] { return torch::nn::functional::linear(x, weight, bias); });
}
