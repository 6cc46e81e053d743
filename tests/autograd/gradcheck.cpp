#include "taper/autograd/gradcheck.h"

#include "support/rows.h"
#include "taper/autograd/function.h"

// gradcheck must find what is wrong, or it is worth nothing.

using namespace taper;
using namespace support;

namespace {

using Tensors = std::vector<Tensor>;

Tensor leaf(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}, kDouble).requires_grad_(true);
}

// x^2 with a backward that is off by a factor.
struct WrongSquare : autograd::Function<WrongSquare> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static Tensors backward(autograd::AutogradContext* ctx, Tensors gradients) {
    return {gradients[0] * ctx->get_saved_variables()[0] * 2.02};
  }
};

// x^2 whose first derivative is right, but treated as a constant.
struct ConstantSlope : autograd::Function<ConstantSlope> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static Tensors backward(autograd::AutogradContext* ctx, Tensors gradients) {
    return {gradients[0] * ctx->get_saved_variables()[0].detach() * 2};
  }
};

}  // namespace

TEST_CASE("gradcheck passes right gradients") {
  CHECK(autograd::gradcheck([](const Tensors& in) { return Tensors{in[0] * in[1], sin(in[0])}; },
                            {leaf({1, 2}), leaf({3, 4})}));
  CHECK(autograd::gradgradcheck([](const Tensors& in) { return Tensors{in[0] * in[1] * in[1]}; },
                                {leaf({1, 2}), leaf({3, 4})}));
}

TEST_CASE("gradcheck finds a wrong gradient, and says where") {
  const auto fn = [](const Tensors& in) { return Tensors{WrongSquare::apply(in[1])}; };
  const std::string message = error_of([&] { autograd::gradcheck(fn, {leaf({1}), leaf({1, 2})}); });
  INFO(message);
  CHECK(message.find("input 1 at [0]") != std::string::npos);
  CHECK(message.find("analytic 2.02") != std::string::npos);
  CHECK(message.find("numeric 2") != std::string::npos);
}

TEST_CASE("gradgradcheck finds a wrong second derivative") {
  const auto fn = [](const Tensors& in) { return Tensors{ConstantSlope::apply(in[0])}; };
  CHECK(autograd::gradcheck(fn, {leaf({1, 2})}));
  CHECK(error_of([&] { autograd::gradgradcheck(fn, {leaf({1, 2})}); }).find("gradgradcheck") !=
        std::string::npos);
}

TEST_CASE("gradcheck ignores what can't be differentiated") {
  CHECK(autograd::gradcheck(
      [](const Tensors& in) { return Tensors{in[0] * 2, in[0] > 1, argmax(in[0])}; },
      {leaf({1, 2}), ones({2}, kLong)}));
}

TEST_CASE("gradcheck wants float64 leaves") {
  const auto twice = [](const Tensors& in) { return Tensors{in[0] * 2}; };
  CHECK(error_of([&] {
          autograd::gradcheck(twice, {ones({2}).requires_grad_(true)});
        }).find("float64") != std::string::npos);
  CHECK(error_of([&] { autograd::gradcheck(twice, {ones({2}, kDouble)}); }).find("requires grad") !=
        std::string::npos);
}

TEST_CASE("gradcheck takes strided and scalar inputs") {
  const Tensor strided = make({1, 2, 3, 4}, {2, 2}, kDouble).t().detach().requires_grad_(true);
  const Tensor scalar = make({3}, {}, kDouble).requires_grad_(true);
  CHECK(autograd::gradcheck([](const Tensors& in) { return Tensors{in[0] * in[1]}; },
                            {strided, scalar}));
}
