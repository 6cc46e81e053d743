// Every path of the convolution (Winograd, products of matrices, groups) in float against the same
// convolution in double, which is always computed by the plain path; and each gradient as the
// transpose of the forward.

#include <cmath>

#include "catch.h"
#include "taper/autograd/autograd.h"
#include "taper/core/factories.h"
#include "taper/core/generator.h"
#include "taper/core/ops.h"

using namespace taper;

namespace {

struct Shape {
  int64_t batch, in, out, h, w, kernel, stride, pad, dilation, groups;
};

void check_float_against_double(const Shape& s) {
  INFO("batch " << s.batch << ", " << s.in << " -> " << s.out << ", " << s.h << "x" << s.w
                << ", kernel " << s.kernel << ", stride " << s.stride << ", pad " << s.pad
                << ", dilation " << s.dilation << ", groups " << s.groups);
  const auto leaf = [](const Tensor& t) { return t.detach().clone().requires_grad_(); };
  const Tensor x = randn({s.batch, s.in, s.h, s.w}), b = randn({s.out});
  const Tensor w = randn({s.out, s.in / s.groups, s.kernel, s.kernel});
  Tensor out[2], grads[2][3], seed;
  for (const int wide : {0, 1}) {
    const ScalarType dtype = wide ? kDouble : kFloat;
    const Tensor xi = leaf(x.to(dtype)), wi = leaf(w.to(dtype)), bi = leaf(b.to(dtype));
    out[wide] = conv2d(xi, wi, bi, s.stride, s.pad, s.dilation, s.groups);
    if (!seed.defined()) seed = randn(out[wide].sizes());
    out[wide].backward(seed.to(dtype));
    grads[wide][0] = xi.grad();
    grads[wide][1] = wi.grad();
    grads[wide][2] = bi.grad();
  }
  const auto close = [](const Tensor& got, const Tensor& exact) {
    const double scale = std::max(exact.abs().max().item<double>(), 1e-3);
    return (got.to(kDouble) - exact).abs().max().item<double>() / scale;
  };
  CHECK(close(out[0], out[1]) < 5e-6);
  for (int i = 0; i < 3; ++i) CHECK(close(grads[0][i], grads[1][i]) < 2e-5);
}

}  // namespace

TEST_CASE("convolutions in float agree with those in double") {
  manual_seed(4);
  const Shape shapes[] = {
      {2, 16, 16, 8, 8, 3, 1, 1, 1, 1},   // Winograd
      {3, 17, 19, 7, 9, 3, 1, 1, 1, 1},   // its tails
      {1, 32, 16, 5, 13, 3, 1, 0, 1, 1},  // no padding, odd sizes
      {2, 16, 32, 6, 6, 3, 1, 2, 1, 1},   // more padding than needed
      {5, 16, 16, 1, 1, 3, 1, 1, 1, 1},   // one pixel
      {4, 1, 8, 28, 28, 3, 1, 1, 1, 1},   // one channel
      {2, 3, 5, 11, 7, 5, 2, 2, 1, 1},    // stride
      {2, 4, 6, 9, 9, 3, 1, 2, 2, 1},     // dilation
      {2, 4, 6, 8, 8, 3, 1, 1, 1, 2},     // groups
      {2, 6, 6, 8, 8, 3, 1, 1, 1, 6},     // depthwise
      {3, 20, 24, 10, 6, 1, 1, 0, 1, 1},  // a product of matrices
      {1, 8, 8, 4, 4, 4, 4, 0, 1, 1},     // windows that do not overlap
  };
  for (const Shape& shape : shapes) check_float_against_double(shape);
}

TEST_CASE("an infinity or a NaN reaches the windows that hold it and no others") {
  manual_seed(5);
  const Tensor w = randn({16, 16, 3, 3});
  for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    Tensor x = randn({2, 16, 7, 8});
    x.select(0, 1).select(0, 3).select(0, 3).select(0, 4).fill_(value);
    const auto check = [&](const Tensor& got, const Tensor& exact) {
      CHECK(got.isnan().eq(exact.isnan()).all().item<bool>());
      CHECK(got.isinf().eq(exact.isinf()).all().item<bool>());
      CHECK(exact.isfinite().logical_not().sum().item<int64_t>() == 9 * 16);
    };
    check(conv2d(x, w, {}, 1, 1), conv2d(x.to(kDouble), w.to(kDouble), {}, 1, 1));
    const auto gradient = [&](ScalarType dtype) {
      const Tensor leaf = zeros({2, 16, 7, 8}, dtype).requires_grad_();
      conv2d(leaf, w.to(dtype), {}, 1, 1).backward(x.to(dtype));
      return leaf.grad();
    };
    check(gradient(kFloat), gradient(kDouble));
    const auto weight_gradient = [&](ScalarType dtype) {
      const Tensor leaf = w.to(dtype).detach().clone().requires_grad_();
      conv2d(x.to(dtype), leaf, {}, 1, 1).backward(ones({2, 16, 7, 8}, dtype));
      return leaf.grad();
    };
    check(weight_gradient(kFloat), weight_gradient(kDouble));
  }
}

TEST_CASE("an empty batch gives an empty result and zero gradients") {
  const Tensor w = randn({16, 16, 3, 3}).requires_grad_();
  const Tensor out = conv2d(zeros({0, 16, 8, 8}), w, {}, 1, 1);
  REQUIRE(out.sizes() == IntArrayRef({0, 16, 8, 8}));
  out.sum().backward();
  REQUIRE(w.grad().eq(0).all().item<bool>());
}

TEST_CASE("max pooling gives each gradient to the first of equals") {
  const Tensor x = ones({1, 1, 4, 4}).requires_grad_();
  max_pool2d(x, 2).sum().backward();
  const Tensor expected = zeros({1, 1, 4, 4});
  for (const int64_t y : {0, 2}) {
    for (const int64_t z : {0, 2}) expected[0][0][y][z] = 1;
  }
  REQUIRE(x.grad().equal(expected));
}
