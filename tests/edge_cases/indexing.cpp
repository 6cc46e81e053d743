#include "support/rows.h"

using namespace taper;
using namespace support;

TEST_CASE("24: embedding leaves the padding row alone") {
  Tensor weight = ones({3, 2}).requires_grad_(true);
  embedding(weight, tensor({0, 1, 1, 0}), 0).sum().backward();
  CHECK(near(weight.grad(), {0, 0, 2, 2, 0, 0}));
}

TEST_CASE("24: embedding of many ids") {
  Tensor weight = ones({3, 2}).requires_grad_(true);
  embedding(weight, arange(3000).remainder(3), 0).sum().backward();
  CHECK(near(weight.grad(), {0, 0, 1000, 1000, 1000, 1000}));
}

TEST_CASE("25: indices out of range") {
  check_rows(std::vector<ErrorRow>{
      THROWS(gather(ones({3}), 0, tensor({3})), "out of bounds"),
      THROWS(gather(ones({3}), 0, tensor({-1})), "out of bounds"),
      THROWS(embedding(ones({3, 2}), tensor({3})), "out of bounds"),
      THROWS(index_select(ones({3}), 0, tensor({-1})), "out of bounds"),
      THROWS(ones({3}).index({tensor({-4})}), "out of bounds"),
      THROWS(ones({3})[3], "out of bounds"),
  });
  CHECK(near(tensor({1., 2., 3.}).index({tensor({-1})}), {3}));
}

TEST_CASE("25: nothing is written before an error") {
  CPU_ONLY("a device's kernel checks an index where it uses it");
  Tensor target = zeros({3});
  CHECK_FALSE(error_of([&] { target.index_add_(0, tensor({0, 5}), ones({2})); }).empty());
  CHECK_FALSE(error_of([&] { target.scatter_(0, tensor({0, 5}), 1); }).empty());
  CHECK_FALSE(error_of([&] { target.index_put_({tensor({0, 5})}, 1); }).empty());
  CHECK(near(target, {0, 0, 0}));
}

TEST_CASE("26: duplicate indices accumulate") {
  const Tensor index = tensor({0, 0, 2}), source = tensor({1., 2., 3.});
  CHECK(near(index_add(zeros({3}), 0, index, source), {3, 0, 3}));
  CHECK(near(scatter_add(zeros({3}), 0, index, source), {3, 0, 3}));
  Tensor either = zeros({3});
  either.index_put_({index}, source);
  const double written = either[0].item<double>();
  CHECK((written == 1 || written == 2));
  CHECK(either[2].item<double>() == 3);
}

TEST_CASE("masked_select of nothing has a gradient") {
  Tensor x = ones({3}).requires_grad_(true);
  masked_select(x, zeros({3}, kBool)).sum().backward();
  CHECK(near(x.grad(), {0, 0, 0}));
}

TEST_CASE("assigning to an index writes into the tensor") {
  using indexing::None;
  using indexing::Slice;
  Tensor x = zeros({2, 3});
  x[0] = ones({3});
  x.index_put_({1, Slice(1, None)}, 5);
  x.index({Slice(), 0}) = 7;
  CHECK(near(x, {7, 1, 1, 7, 5, 5}));
}

TEST_CASE("index_put leaves its tensor as it is, and adds where asked to") {
  using indexing::Slice;
  Tensor x = tensor({1., 2., 3.}, kDouble).requires_grad_(true);
  Tensor v = tensor({10., 20., 30.}, kDouble).requires_grad_(true);
  const Tensor index = tensor({0, 0, 2});
  const Tensor added = x.index_put({index}, v, /*accumulate=*/true);
  CHECK(near(added, {31, 2, 33}));
  CHECK(near(x, {1, 2, 3}));
  (added * tensor({1., 2., 3.}, kDouble)).sum().backward();
  CHECK(near(x.grad(), {1, 2, 3}));
  CHECK(near(v.grad(), {1, 1, 3}));
  // Into a slice, a mask, with values that broadcast.
  Tensor y = ones({2, 3});
  y.index_put_({1, Slice(0, 2)}, full({2}, 5.), true);
  CHECK(near(y, {1, 1, 1, 6, 6, 1}));
  y.index_put_({y.gt(5)}, full({}, -6.), true);
  CHECK(near(y, {1, 1, 1, 0, 0, 1}));
  y.index_put_({tensor({1, 1}), Slice()}, full({}, 2.), true);
  CHECK(near(y, {1, 1, 1, 4, 4, 5}));
  CHECK(near(index_put(y, {0}, zeros({3})), {0, 0, 0, 4, 4, 5}));
  CHECK(error_of([&] {
          y.index_put_({tensor({0, 1})}, ones({3, 3}), true);
        }).find("shape mismatch: value tensor of shape [3, 3]") == 0);
  CHECK(error_of([&] {
          y.index_put_({tensor({0, 1})}, ones({2, 3}, kLong), true);
        }).find("Index put requires the source and destination dtypes match") == 0);
  CHECK(near(y, {1, 1, 1, 4, 4, 5}));
}
