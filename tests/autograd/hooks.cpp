#include "support/rows.h"

using namespace taper;
using namespace support;

namespace {

Tensor leaf(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}).requires_grad_(true);
}

}  // namespace

TEST_CASE("a hook sees the complete gradient, once") {
  Tensor x = leaf({1, 2});
  int calls = 0;
  std::vector<double> seen;
  x.register_hook([&](const Tensor& gradient) {
    ++calls;
    seen = values(gradient);
  });
  const Tensor y = x * 1;
  (x * 2 + x * 3 + y).sum().backward();
  CHECK(calls == 1);
  CHECK(near(seen, {6, 6}));
}

TEST_CASE("a hook may replace the gradient") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.register_hook([](const Tensor& gradient) { return gradient * 10; });
  y.register_hook([](const Tensor& gradient) { return gradient + 1; });
  y.sum().backward();
  CHECK(near(x.grad(), {22, 22}));
}

TEST_CASE("hooks are removed by their number") {
  Tensor x = leaf({1});
  const unsigned first = x.register_hook([](const Tensor& gradient) { return gradient * 10; });
  const unsigned second = x.register_hook([](const Tensor& gradient) { return gradient * 7; });
  CHECK(first != second);
  x.remove_hook(first);
  (x * 1).sum().backward();
  CHECK(near(x.grad(), {7}));
}

TEST_CASE("a hook needs a tensor that requires grad") {
  CHECK(error_of([] {
          ones({1}).register_hook([](const Tensor&) {});
        }).find("cannot register a hook on a tensor that doesn't require gradient") !=
        std::string::npos);
}

TEST_CASE("a hook may not change the gradient's shape") {
  Tensor x = leaf({1, 2});
  x.register_hook([](const Tensor&) { return ones({3}); });
  CHECK_FALSE(error_of([&] { (x * 1).sum().backward(); }).empty());
}

TEST_CASE("retain_grad keeps the gradient of a result") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  CHECK_FALSE(y.retains_grad());
  y.retain_grad();
  CHECK(y.retains_grad());
  (y * y).sum().backward();
  CHECK(near(y.grad(), {4, 8}));
  CHECK(near(x.grad(), {8, 16}));
  CHECK(error_of([] {
          ones({1}).retain_grad();
        }).find("can't retain_grad on Tensor that has requires_grad=") != std::string::npos);
}

TEST_CASE("retain_grad sees what the hooks made of it") {
  Tensor x = leaf({1});
  const Tensor y = x * 2;
  y.register_hook([](const Tensor& gradient) { return gradient * 5; });
  y.retain_grad();
  y.sum().backward();
  CHECK(near(y.grad(), {5}));
}

TEST_CASE("hooks run where grad computes") {
  Tensor x = leaf({1});
  const Tensor y = x * 2;
  int calls = 0;
  y.register_hook([&](const Tensor&) { ++calls; });
  autograd::grad({(y * 3).sum()}, {x});
  CHECK(calls == 1);
}

TEST_CASE("hooks are differentiable with create_graph") {
  Tensor x = leaf({3});
  const Tensor y = x * 1;
  y.register_hook([](const Tensor& gradient) { return gradient * gradient; });
  const Tensor gradient = autograd::grad({(y * y).sum()}, {x}, {}, true, true)[0];
  CHECK(near(gradient, {36}));  // (2y)^2
  // 8y = 24 arrives at y, where the hook squares it again.
  CHECK(near(autograd::grad({gradient.sum()}, {x})[0], {576}));
}
