#include "support/rows.h"
#include "taper/autograd/grad_mode.h"

// In-place ops: histories of bases and views, versions.

using namespace taper;
using namespace support;

namespace {

Tensor leaf(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}).requires_grad_(true);
}
bool contains(const std::string& message, const char* words) {
  return message.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("in place replaces the history of a result") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  y.mul_(3).add_(x);
  CHECK(near(y, {7, 14}));
  y.sum().backward();
  CHECK(near(x.grad(), {7, 7}));
}

TEST_CASE("in place on a fresh tensor starts its history") {
  Tensor x = leaf({1, 2});
  Tensor buffer = zeros({2});
  CHECK_FALSE(buffer.requires_grad());
  buffer.add_(x).mul_(buffer);
  CHECK(buffer.requires_grad());
  buffer.sum().backward();
  CHECK(near(x.grad(), {2, 4}));
}

TEST_CASE("writing to the base is seen by views made before") {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor base = x * 1;
  const Tensor view = base.slice(0, 1, 3);
  base.mul_(5);
  CHECK(near(view, {10, 15}));
  view.sum().backward();
  CHECK(near(x.grad(), {0, 5, 5, 0}));
}

TEST_CASE("writing to one view is seen by another") {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor base = x * 1;
  Tensor left = base.slice(0, 0, 3);
  const Tensor right = base.slice(0, 1, 4);
  left.mul_(10);
  right.sum().backward();
  CHECK(near(x.grad(), {0, 10, 10, 1}));
}

TEST_CASE("the view that was written to has the new history too") {
  Tensor x = leaf({1, 2, 3, 4});
  const Tensor base = x * 1;
  Tensor view = base.slice(0, 0, 2);
  view.mul_(5);
  view.sum().backward({}, true);
  CHECK(near(x.grad(), {5, 5, 0, 0}));
  view.mul_(view);  // 25 x^2
  CHECK(near(autograd::grad({view.sum()}, {x}, {}, true)[0], {50, 100, 0, 0}));
  CHECK(near(autograd::grad({base.sum()}, {x})[0], {50, 100, 1, 1}));
}

TEST_CASE("views of views") {
  Tensor x = make({1, 2, 3, 4, 5, 6}, {2, 3}).requires_grad_(true);
  Tensor base = x * 1;
  base.t()[1].mul_(4);
  base.sum().backward();
  CHECK(near(x.grad(), {1, 4, 1, 1, 4, 1}));
}

TEST_CASE("a view of a plain tensor takes its base into the graph") {
  Tensor x = leaf({1, 2});
  Tensor base = zeros({2, 2});
  base[0].copy_(x * 3);
  CHECK(base.requires_grad());
  base[1].copy_(x * x);
  base.sum().backward();
  CHECK(near(x.grad(), {5, 7}));
}

TEST_CASE("index_put_ and masked_fill_ are recorded") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1;
  y.index_put_({tensor({0})}, tensor({9.}));
  y.masked_fill_(tensor({false, true, false}), 7);
  CHECK(near(y, {9, 7, 3}));
  y.sum().backward();
  CHECK(near(x.grad(), {0, 0, 1}));
}

TEST_CASE("views share the version counter") {
  Tensor base = zeros({4});
  const uint32_t start = base._version();
  base.slice(0, 0, 2).add_(1);
  CHECK(base._version() == start + 1);
  base.detach().add_(1);
  CHECK(base._version() == start + 2);
  base.data().add_(1);
  CHECK(base._version() == start + 2);
  CHECK(near(base, {3, 3, 2, 2}));
}

TEST_CASE("a view of a saved tensor was changed") {
  Tensor x = leaf({1, 2}), w = tensor({3., 4.});
  const Tensor y = x * w;
  w[0].add_(1);
  const std::string message = error_of([&] { y.sum().backward(); });
  INFO(message);
  CHECK(contains(message, "has been modified by an inplace operation"));
}

TEST_CASE("the message names the saved tensor and its maker") {
  Tensor x = leaf({1, 2});
  Tensor y = exp(x);
  y.mul_(2);
  const std::string message = error_of([&] { y.sum().backward(); });
  INFO(message);
  CHECK(contains(message, "[2]"));
  CHECK(contains(message,
                 "Tensor [2]], which is output 0 of ExpBackward0, is at version 1; "
                 "expected version 0 instead. Hint: "));
  // A saved input is named by what made it; a leaf has no maker.
  Tensor a = x * 2, product = a * a;
  a.add_(1);
  CHECK(
      contains(error_of([&] { product.sum().backward(); }), "which is output 0 of AddBackward0,"));
  Tensor b = ones({2});
  const Tensor scaled = x * b;
  b.add_(1);
  CHECK(contains(error_of([&] { scaled.sum().backward(); }), "Tensor [2]] is at version 1;"));
}

TEST_CASE("parts of a tensor may be changed in place") {
  Tensor x = leaf({1, 2, 3, 4});
  const Tensor base = x * 1;
  const Tensor first = base.slice(0, 0, 2), second = base.slice(0, 2, 4);
  first.mul_(5);
  second.mul_(3);
  CHECK(near(base, {5, 10, 9, 12}));
  (base + cat({second, first})).sum().backward();
  CHECK(near(x.grad(), {10, 10, 6, 6}));
  const Tensor again = x * 1;
  again[2].mul_(7);
  CHECK(near(autograd::grad({again.sum()}, {x})[0], {1, 1, 7, 1}));
}

TEST_CASE("a view made under no_grad may not be changed while recording") {
  Tensor x = leaf({1, 2});
  Tensor base = x * 1, view;
  {
    NoGradGuard no_grad;
    view = base.slice(0, 0, 1);
  }
  const std::string message = error_of([&] { view.mul_(2); });
  INFO(message);
  CHECK(contains(
      message,
      "A view was created in no_grad mode and is being modified inplace with grad mode enabled"));
}

TEST_CASE("in place with itself, and with a view of itself") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  y.mul_(y);
  y.sum().backward();
  CHECK(near(x.grad(), {2, 4}));
  Tensor z = x * 1;
  z.div_(z);
  CHECK(near(autograd::grad({z.sum()}, {x})[0], {0, 0}));
  Tensor w = x * 1;
  w.addcmul_(w, w);  // x + x^2
  CHECK(near(autograd::grad({w.sum()}, {x})[0], {3, 5}));
  Tensor overlapping = arange(5, kFloat);
  CHECK(contains(error_of([&] { overlapping.slice(0, 1, 5).add_(overlapping.slice(0, 0, 4)); }),
                 "some elements of the input tensor and the written-to tensor refer to a single "
                 "memory location"));
}

TEST_CASE("set_data and detach_") {
  Tensor x = leaf({1, 2});
  x.set_data(tensor({5., 6.}));
  CHECK(near(x, {5, 6}));
  CHECK(x.requires_grad());
  Tensor y = x * 2;
  y.detach_();
  CHECK(y.is_leaf());
  CHECK_FALSE(y.requires_grad());
}

TEST_CASE("higher derivatives through an in-place op") {
  Tensor x = leaf({3});
  Tensor y = x * x;
  y.mul_(x);  // x^3
  const Tensor first = autograd::grad({y.sum()}, {x}, {}, true, true)[0];
  CHECK(near(first, {27}));
  CHECK(near(autograd::grad({first.sum()}, {x})[0], {18}));
}
