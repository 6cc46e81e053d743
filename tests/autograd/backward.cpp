#include "support/rows.h"
#include "taper/autograd/grad_mode.h"

// backward, grad, and what they leave behind.

using namespace taper;
using namespace support;

namespace {

Tensor leaf(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}, kDouble).requires_grad_(true);
}

}  // namespace

TEST_CASE("backward adds to .grad over several calls") {
  Tensor x = leaf({1, 2});
  CHECK_FALSE(x.grad().defined());
  (x * x).sum().backward();
  CHECK(near(x.grad(), {2, 4}));
  (x * 3).sum().backward();
  CHECK(near(x.grad(), {5, 7}));
  x.mutable_grad().reset();
  (x * 3).sum().backward();
  CHECK(near(x.grad(), {3, 3}));
}

TEST_CASE("accumulation happens in place, unless a graph is being created") {
  Tensor x = leaf({1, 2});
  (x * x).sum().backward();
  const void* memory = x.grad().data_ptr();
  (x * x).sum().backward();
  CHECK(x.grad().data_ptr() == memory);
  const Tensor before = x.grad();
  (x * x).sum().backward({}, std::nullopt, true);
  CHECK(near(before, {4, 8}));
  CHECK(near(x.grad(), {6, 12}));
  CHECK(x.grad().requires_grad());
  x.mutable_grad().reset();  // a gradient with a history refers to its leaf: a cycle
}

TEST_CASE("two leaves never share one gradient") {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  (a + b).sum().backward();
  a.mutable_grad().mul_(10);
  CHECK(near(b.grad(), {1, 1}));
  Tensor c = leaf({1, 2}), d = leaf({3, 4});
  (c + d).sum().backward({}, true, true);
  CHECK_FALSE(c.grad().is_same(d.grad()));
  c.mutable_grad().reset();
  d.mutable_grad().reset();
}

TEST_CASE("a gradient given by the caller is not changed") {
  Tensor x = leaf({1, 2});
  const Tensor given = make({1, 10}, {2}, kDouble);
  const Tensor y = x * 1;
  y.backward(given, true);
  y.backward(given);
  CHECK(near(given, {1, 10}));
  CHECK(near(x.grad(), {2, 20}));
  Tensor z = leaf({1, 2});
  z.backward(given);
  z.backward(given);
  CHECK(near(given, {1, 10}));
  CHECK(near(z.grad(), {2, 20}));
}

TEST_CASE("a second backward needs retain_graph") {
  Tensor x = leaf({1, 2});
  const Tensor kept = (x * x).sum();
  kept.backward({}, true);
  kept.backward();
  CHECK(near(x.grad(), {4, 8}));
  const std::string message = error_of([&] { kept.backward(); });
  INFO(message);
  CHECK(message.find("Trying to backward through the graph a second time") != std::string::npos);
  CHECK(message.find("retain_graph=true") != std::string::npos);
}

TEST_CASE("a part of a graph can be run twice where it saved nothing") {
  Tensor x = leaf({1, 2});
  const Tensor y = x + 1;
  y.sum().backward();
  y.sum().backward();
  CHECK(near(x.grad(), {2, 2}));
}

TEST_CASE("a graph with shared parts") {
  Tensor x = leaf({3});
  Tensor y = x;
  for (int i = 0; i < 40; ++i) y = y + y;  // 2^40 paths
  y.sum().backward();
  CHECK(near(x.grad(), {std::ldexp(1., 40)}));
}

TEST_CASE("backward from several tensors, and only into chosen inputs") {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  const Tensor y = (a * b).sum(), z = (a * 10).sum();
  autograd::backward({y, z}, {}, true);
  CHECK(near(a.grad(), {13, 14}));
  CHECK(near(b.grad(), {1, 2}));
  y.backward({}, true, false, TensorList({a}));
  CHECK(near(a.grad(), {16, 18}));
  CHECK(near(b.grad(), {1, 2}));
}

TEST_CASE("grad returns gradients and leaves .grad alone") {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  const Tensor y = a * b;
  const auto gradients = autograd::grad({y.sum()}, {b, a});
  CHECK(near(gradients[0], {1, 2}));
  CHECK(near(gradients[1], {3, 4}));
  CHECK_FALSE(a.grad().defined());
}

TEST_CASE("grad with respect to a result") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  const Tensor z = (y * y).sum();
  CHECK(near(autograd::grad({z}, {y}, {}, true)[0], {4, 8}));
  const auto both = autograd::grad({z}, {x, y});
  CHECK(near(both[0], {8, 16}));
  CHECK(near(both[1], {4, 8}));
}

TEST_CASE("grad of a tensor with respect to itself") {
  Tensor x = leaf({2});
  const Tensor y = (x * x).sum();
  CHECK(near(autograd::grad({y}, {y})[0], {1}));
}

TEST_CASE("derivatives up to the fourth") {
  Tensor x = leaf({2});
  Tensor current = pow(x, 4).sum();
  for (const double expected : {32., 48., 48., 24.}) {
    current = autograd::grad({current}, {x}, {}, true, true)[0].sum();
    INFO("expected " << expected << ", got " << current.item<double>());
    CHECK(std::abs(current.item<double>() - expected) < 1e-9);
  }
}

TEST_CASE("third derivative of a composition") {
  Tensor x = leaf({.5});
  Tensor current = sin(x * x).sum();
  const double s = std::sin(.25), c = std::cos(.25), t = .5;
  for (const double expected :
       {2 * t * c, 2 * c - 4 * t * t * s, -12 * t * s - 8 * t * t * t * c}) {
    current = autograd::grad({current}, {x}, {}, true, true)[0].sum();
    CHECK(std::abs(current.item<double>() - expected) < 1e-12);
  }
}

TEST_CASE("the Hessian of a small network against its formula") {
  Tensor w = leaf({.5, -1.});
  const Tensor data = make({2, 3}, {2}, kDouble);
  const Tensor loss = pow((w * data).sum(), 2);
  const Tensor gradient = autograd::grad({loss}, {w}, {}, true, true)[0];
  CHECK(near(gradient, {-8, -12}));
  CHECK(near(autograd::grad({gradient[0]}, {w}, {}, true)[0], {8, 12}));
  CHECK(near(autograd::grad({gradient[1]}, {w})[0], {12, 18}));
}

TEST_CASE("a frozen input gets no gradient") {
  Tensor x = leaf({1, 2}), frozen = make({3, 4}, {2}, kDouble);
  const Tensor y = (x * frozen).sum();
  y.backward();
  CHECK_FALSE(frozen.grad().defined());
  x.requires_grad_(false);
  CHECK_FALSE((x * 2).requires_grad());
  CHECK_FALSE(error_of([&] { (x * 2).sum().backward(); }).empty());
}

TEST_CASE("detach cuts the graph") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  (y.detach() * x).sum().backward();
  CHECK(near(x.grad(), {2, 4}));
  CHECK(y.detach().is_leaf());
  CHECK_FALSE(y.detach().requires_grad());
}

TEST_CASE("leaves, results and their nodes") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  CHECK(x.is_leaf());
  CHECK_FALSE(y.is_leaf());
  CHECK(x.grad_fn() == nullptr);
  CHECK(y.grad_fn()->name().find("Mul") != std::string::npos);
  CHECK(y.grad_fn()->next_functions()[0]->name() == "AccumulateGrad");
  CHECK_FALSE(error_of([&] { y.requires_grad_(false); }).empty());
  CHECK_FALSE(error_of([] { ones({2}, kLong).requires_grad_(true); }).empty());
  CHECK_FALSE(error_of([&] { y.sum().backward(ones({3}, kDouble)); }).empty());
}

TEST_CASE("gradients of another dtype are cast to the input's") {
  Tensor x = make({1, 2}, {2}, kFloat).requires_grad_(true);
  const Tensor y = x * make({3, 4}, {2}, kDouble);
  CHECK(y.scalar_type() == kDouble);
  y.sum().backward();
  CHECK(x.grad().scalar_type() == kFloat);
  CHECK(near(x.grad(), {3, 4}));
}

TEST_CASE("an exception in the middle of backward leaves the graph usable") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  const unsigned hook = y.register_hook([](const Tensor&) -> Tensor { throw Error("stop here"); });
  const Tensor z = (y * y).sum();
  CHECK(error_of([&] { z.backward({}, true); }).find("stop here") != std::string::npos);
  y.remove_hook(hook);
  z.backward();
  CHECK(near(x.grad(), {8, 16}));
}
