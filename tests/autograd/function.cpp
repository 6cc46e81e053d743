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

namespace {

struct Doubled : Function<Doubled> {  // in place
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->mark_dirty({x});
    return x.mul_(2);
  }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    return {gradients[0] * 2};
  }
};

struct Unchanged : Function<Unchanged> {  // returns its input
  static Tensor forward(AutogradContext*, Tensor x) { return x; }
  static Tensor backward(AutogradContext*, variable_list gradients) { return gradients[0] * 5; }
};

struct Exponential : Function<Exponential> {  // saves its output
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    return {gradients[0] * ctx->get_saved_variables()[0]};
  }
};

struct Ranked : Function<Ranked> {  // results without a gradient
  static variable_list forward(AutogradContext* ctx, Tensor x) {
    const Tensor count = x.gt(0), sign = x.sign();
    ctx->mark_non_differentiable({sign});
    return {x * 3, count, sign};
  }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    return {gradients[0] * 3};
  }
};

bool saw_undefined = false, wanted_second = true;
struct Lazy : Function<Lazy> {  // looks at which gradients exist and are wanted
  static variable_list forward(AutogradContext* ctx, Tensor a, Tensor b) {
    ctx->set_materialize_grads(false);
    return {a * 2, b * 3};
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    saw_undefined = !gradients[1].defined();
    wanted_second = ctx->needs_input_grad(1);
    return {gradients[0] * 2, gradients[1].defined() ? gradients[1] * 3 : Tensor()};
  }
};

struct GradientOfANumber : Function<GradientOfANumber> {
  static Tensor forward(AutogradContext*, Tensor x, double) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    return {gradients[0], gradients[0]};
  }
};

}  // namespace

TEST_CASE("a custom function in place") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  const Tensor z = Doubled::apply(y);
  CHECK(z.is_same(y));
  z.sum().backward();
  CHECK(near(x.grad(), {2, 2}));
  CHECK(error_of([&] { Doubled::apply(x); }).find("leaf Variable") != std::string::npos);
}

TEST_CASE("a custom function in place on a view") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1;
  Doubled::apply(y.slice(0, 0, 2));
  y.sum().backward();
  CHECK(near(x.grad(), {2, 2, 1}));
}

TEST_CASE("a custom function that returns its input makes a tensor of its own") {
  Tensor x = leaf({1, 2});
  const Tensor y = Unchanged::apply(x);
  CHECK_FALSE(y.is_same(x));
  CHECK(x.is_leaf());
  y.sum().backward();
  CHECK(near(x.grad(), {5, 5}));
}

TEST_CASE("a custom function that saves its output, differentiated twice") {
  Tensor x = leaf({.5});
  const Tensor first = autograd::grad({Exponential::apply(x).sum()}, {x}, {}, true, true)[0];
  CHECK(near(autograd::grad({first.sum()}, {x})[0], {std::exp(.5)}));
}

TEST_CASE("results without a gradient") {
  Tensor x = leaf({1, -2});
  const variable_list results = Ranked::apply(x);
  CHECK(results[0].requires_grad());
  CHECK_FALSE(results[1].requires_grad());
  CHECK_FALSE(results[2].requires_grad());
  results[0].sum().backward();
  CHECK(near(x.grad(), {3, 3}));
}

TEST_CASE("gradients may stay undefined, and backward sees what is wanted") {
  Tensor a = leaf({1}), b = make({1}, {1}, kDouble);
  Lazy::apply(a, b)[0].sum().backward();
  CHECK(saw_undefined);
  CHECK_FALSE(wanted_second);
  CHECK(near(a.grad(), {2}));
}

TEST_CASE("a gradient for an argument that is no tensor") {
  Tensor x = leaf({1});
  CHECK(error_of([&] {
          GradientOfANumber::apply(x, 1.0).sum().backward();
        }).find("the corresponding forward input was not a Variable") != std::string::npos);
}

TEST_CASE("a custom function's backward a second time") {
  Tensor x = leaf({1});
  const Tensor y = Scaled::apply(x, 1.0).sum();
  y.backward();
  CHECK(error_of([&] { y.backward(); }).find("a second time") != std::string::npos);
}

TEST_CASE("the node of a custom function is named after it") {
  Tensor x = leaf({1});
  CHECK(Scaled::apply(x, 1.0).grad_fn().name() == "ScaledBackward");
}

TEST_CASE("what a custom function keeps has a kind") {
  AutogradContext context;
  context.saved_data["n"] = 3;
  context.saved_data["flag"] = true;
  context.saved_data["shape"] = std::vector<int64_t>{2, 3};
  context.saved_data["name"] = "cube";
  CHECK(context.saved_data["n"].toInt() == 3);
  CHECK(context.saved_data["n"].to<int>() == 3);
  CHECK(context.saved_data["flag"].toBool());
  CHECK(context.saved_data["shape"].toIntVector() == std::vector<int64_t>{2, 3});
  CHECK(context.saved_data["name"].toStringRef() == "cube");
  CHECK(context.saved_data["missing"].isNone());
  CHECK(error_of([&] { context.saved_data["n"].toTensor(); }) == "Expected Tensor but got Int");
}
