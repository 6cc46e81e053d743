// Reductions, scans, order and normalisation on 4096x1024 floats.

#include "bench.h"

using namespace bench;

static constexpr const char* kSection = "Reductions, scans, normalisation (4096x1024)";

static Tensor matrix() { return values({4096, 1024}); }

BENCH(kSection, kOther, "sum") {
  const Tensor x = matrix();
  row.time([&] { return x.sum(); });
}
BENCH(kSection, kOther, "sum over dim 0") {
  const Tensor x = matrix();
  row.time([&] { return x.sum(0); });
}
BENCH(kSection, kOther, "sum over dim 1") {
  const Tensor x = matrix();
  row.time([&] { return x.sum(1); });
}
BENCH(kSection, kOther, "var over dim 1") {
  const Tensor x = matrix();
  row.time([&] { return x.var(1); });
}
BENCH(kSection, kOther, "max over dim 1, with indices") {
  const Tensor x = matrix();
  row.time([&] { return x.max(1); });
}
BENCH(kSection, kOther, "argmax over dim 1") {
  const Tensor x = matrix();
  row.time([&] { return x.argmax(1); });
}
BENCH(kSection, kOther, "cumsum over dim 1") {
  const Tensor x = matrix();
  row.time([&] { return x.cumsum(1); });
}
BENCH(kSection, kOther, "sort over dim 1, with indices") {
  const Tensor x = matrix();
  row.time([&] { return x.sort(1); });
}
BENCH(kSection, kOther, "softmax") {
  const Tensor x = matrix();
  row.time([&] { return torch::softmax(x, 1); });
}
BENCH(kSection, kOther, "softmax, backward") {
  const Tensor x = matrix().requires_grad_(), grad = values({4096, 1024}, -1, 1, 2);
  const Tensor y = torch::softmax(x, 1);
  row.time([&] { return torch::autograd::grad({y}, {x}, {grad}, /*retain_graph=*/true); });
}
BENCH(kSection, kOther, "layer norm") {
  const Tensor x = matrix(), weight = values({1024}), bias = values({1024});
  row.time([&] { return torch::layer_norm(x, {1024}, weight, bias); });
}
BENCH(kSection, kOther, "layer norm, backward") {
  const Tensor x = matrix().requires_grad_(), grad = values({4096, 1024}, -1, 1, 2);
  const Tensor weight = values({1024}).requires_grad_(), bias = values({1024}).requires_grad_();
  const Tensor y = torch::layer_norm(x, {1024}, weight, bias);
  row.time([&] { return torch::autograd::grad({y}, {x, weight, bias}, {grad}, true); });
}
BENCH(kSection, kOther, "cross entropy, forward and backward") {
  const Tensor x = matrix().requires_grad_(), labels = whole_numbers({4096}, 1024);
  row.time([&] {
    return torch::autograd::grad({torch::nn::functional::cross_entropy(x, labels)}, {x});
  });
}
