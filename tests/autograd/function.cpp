#include "taper/autograd/function.h"

#include "support/rows.h"

// Custom functions, written as for LibTorch.

using namespace taper;
using namespace support;
using autograd::AutogradContext;
using autograd::Function;
using autograd::variable_list;

namespace {

Tensor leaf(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}, kDouble).requires_grad_(true);
}

struct Scaled : Function<Scaled> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double factor) {
    ctx->save_for_backward({x});
    ctx->saved_data["factor"] = factor;
    return x * x * factor;
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {gradients[0] * x * (2 * ctx->saved_data["factor"].toDouble()), Tensor()};
  }
};

struct SumAndProduct : Function<SumAndProduct> {
  static variable_list forward(AutogradContext* ctx, const Tensor& a, const Tensor& b) {
    ctx->save_for_backward({a, b});
    return {a + b, a * b};
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    return {gradients[0] + gradients[1] * saved[1], gradients[0] + gradients[1] * saved[0]};
  }
};

struct OneTooMany : Function<OneTooMany> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    return {gradients[0], gradients[0]};
  }
};

}  // namespace

TEST_CASE("a custom function with a number beside the tensor") {
  Tensor x = leaf({1, 2});
  const Tensor y = Scaled::apply(x, 3.0);
  CHECK(near(y, {3, 12}));
  y.sum().backward();
  CHECK(near(x.grad(), {6, 12}));
}

TEST_CASE("a custom function is differentiable again") {
  Tensor x = leaf({2});
  const Tensor first = autograd::grad({Scaled::apply(x, 3.0).sum()}, {x}, {}, true, true)[0];
  CHECK(near(first, {12}));
  CHECK(near(autograd::grad({first.sum()}, {x})[0], {6}));
}

TEST_CASE("a custom function with two results") {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  const auto results = SumAndProduct::apply(a, b);
  (results[0] + results[1]).sum().backward();
  CHECK(near(a.grad(), {4, 5}));
  CHECK(near(b.grad(), {2, 3}));
}

TEST_CASE("a custom function records nothing where nobody asks") {
  CHECK_FALSE(Scaled::apply(ones({2}), 1.0).requires_grad());
}

TEST_CASE("a backward with another number of gradients") {
  Tensor x = leaf({1});
  CHECK_FALSE(error_of([&] { OneTooMany::apply(x).sum().backward(); }).empty());
}

TEST_CASE("saved tensors of a custom function are versioned") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  const Tensor z = Scaled::apply(y, 1.0);
  y.add_(1);
  CHECK(error_of([&] { z.sum().backward(); }).find("modified by an inplace operation") !=
        std::string::npos);
}
