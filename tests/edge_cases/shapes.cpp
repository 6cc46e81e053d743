#include "support/rows.h"
#include "taper/autograd/grad_mode.h"

// Shapes: broadcasting, views, empty tensors, factories.

using namespace taper;
using namespace support;

namespace {

std::vector<int64_t> lengths(const std::vector<Tensor>& parts) {
  std::vector<int64_t> result;
  for (const Tensor& part : parts) result.push_back(part.size(0));
  return result;
}
Tensor first(const TensorPair& pair) { return std::get<0>(pair); }

}  // namespace

TEST_CASE("shapes: broadcasting") {
  check_rows(std::vector<SizeRow>{
      HAS_SHAPE(zeros({0}) + zeros({1}), {0}),
      HAS_SHAPE(zeros({3, 0}) + zeros({3, 1}), {3, 0}),
      HAS_SHAPE(zeros({2, 1}) + zeros({3}), {2, 3}),
  });
  check_rows(std::vector<ErrorRow>{
      THROWS(zeros({0}) + zeros({3}),
             "The size of tensor a (0) must match the size of tensor b (3)"),
      THROWS(ones({1}).add_(ones({3})),
             "output with shape [1] doesn't match the broadcast shape [3]"),
  });
  check_rows(std::vector<ValueRow>{GIVES(ones({3}).add_(ones({1})), {2, 2, 2})});
}

TEST_CASE("shapes: reshape and view") {
  check_rows(std::vector<ErrorRow>{
      THROWS(zeros({0, 3}).reshape({-1, 0}), "ambiguous"),
      THROWS(zeros({2, 0}).reshape({0, -1}), "ambiguous"),
      THROWS(ones({2, 3}).t().view({6}), "view size is not compatible"),
      THROWS(ones({2, 3}).reshape({4, 2}), "is invalid for input of size 6"),
      THROWS(as_strided(ones({4}), {3, 2}, {2, 2}), "are out of bounds for storage of size 16"),
  });
  CHECK(ones({2, 3}).t().reshape({6}).sizes() == IntArrayRef({6}));
}

TEST_CASE("shapes: slices") {
  using indexing::Slice;
  check_rows(std::vector<SizeRow>{
      HAS_SHAPE(ones({4}).index({Slice(5, 10)}), {0}),
      HAS_SHAPE(ones({4}).slice(0, -3, -1), {2}),
      HAS_SHAPE(ones({4}).slice(0, 3, 1), {0}),
  });
  check_rows(std::vector<ErrorRow>{
      THROWS(ones({4}).slice(0, 0, 4, -1), "step must be"),
      THROWS(ones({4}).narrow(0, 2, 3), "exceeds dimension size"),
      THROWS(ones({4}).narrow(0, 0, -1), "narrow"),
  });
}

TEST_CASE("shapes: flip copies") {
  Tensor source = tensor({1., 2., 3.});
  Tensor flipped = flip(source, {0});
  flipped.fill_(9);
  CHECK(near(source, {1, 2, 3}));
}

TEST_CASE("shapes: dimensions of a sum") {
  check_rows(std::vector<ErrorRow>{THROWS(sum(ones({2, 3}), {0, 0}), "appears multiple times")});
  check_rows(std::vector<ValueRow>{
      GIVES(sum(ones({2, 3}), IntArrayRef()), {6}),
  });
}

TEST_CASE("shapes: pieces") {
  CHECK(lengths(arange(5).chunk(4)) == std::vector<int64_t>{2, 2, 1});
  CHECK(lengths(arange(7).split(3)) == std::vector<int64_t>{3, 3, 1});
  CHECK(lengths(arange(7).tensor_split(3)) == std::vector<int64_t>{3, 2, 2});
}

TEST_CASE("shapes: tensors without dimensions, or without elements") {
  CHECK(tensor(1.).movedim(0, -1).dim() == 0);
  CHECK(softmax(zeros({0}, kLong), 0).scalar_type() == kLong);
  check_rows(std::vector<ErrorRow>{
      THROWS(tensor(1.).movedim(1, 0), "Dimension out of range"),
      THROWS(softmax(zeros({2}, kLong), 0), "softmax"),
  });
}

TEST_CASE("shapes: einsum multiplies operands of different dtypes, but sums only equal ones") {
  CHECK(einsum("ij,ij->ij", {ones({2, 2}), ones({2, 2}, kDouble)}).scalar_type() == kDouble);
  CHECK(einsum("i,j->ij", {ones({2}), ones({2}, kDouble)}).scalar_type() == kDouble);
  check_rows(std::vector<ErrorRow>{
      THROWS(einsum("ij,jk->ik", {ones({2, 2}), ones({2, 2}, kDouble)}), "dtype"),
  });
}

TEST_CASE("shapes: messages name the op") {
  check_rows(std::vector<ErrorRow>{
      THROWS(ones({2, 3}) * ones({2}), "mul: The size of tensor a (3) must match"),
      THROWS(ones({2, 3}).view({5}), "view: shape '[5]' is invalid for input of size 6"),
      THROWS(ones({2, 3}).reshape({5}), "reshape: shape '[5]' is invalid for input of size 6"),
      THROWS(cat({ones({2, 3}), ones({3, 2})}), "torch.cat(): Sizes of tensors must match"),
      THROWS(ones({3}).expand({2}), "expand: The expanded size of the tensor (2)"),
      THROWS(ones({3}).slice(0, 0, 2, -1), "slice(): slice step must be positive"),
      THROWS(Tensor().sum(), "sum: Expected a proper Tensor but got None (or an undefined Tensor"),
      THROWS(ones({1}) + Tensor(), "add: Expected a proper Tensor but got None"),
      THROWS(matmul(ones({2, 2}), Tensor()), "matmul: Expected a proper Tensor but got None"),
  });
}

TEST_CASE("shapes: matmul") {
  check_rows(std::vector<SizeRow>{
      HAS_SHAPE(matmul(ones({3}), ones({3})), {}),
      HAS_SHAPE(matmul(ones({2, 3}), ones({3})), {2}),
      HAS_SHAPE(matmul(ones({3}), ones({5, 3, 4})), {5, 4}),
      HAS_SHAPE(matmul(ones({5, 1, 2, 3}), ones({4, 3, 6})), {5, 4, 2, 6}),
  });
}

TEST_CASE("21: matmul over a dimension of size 0") {
  check_rows(std::vector<ValueRow>{
      GIVES(matmul(ones({2, 0}), ones({0, 3})), {0, 0, 0, 0, 0, 0}),
      GIVES(addmm(tensor({1., 2.}), ones({1, 0}), ones({0, 2})), {1, 2}),
  });
  check_rows(std::vector<ErrorRow>{
      THROWS(matmul(ones({2, 0}), ones({1, 3})), "cannot be multiplied (2x0 and 1x3)"),
      THROWS(matmul(ones({0, 2}), ones({3, 0})), "cannot be multiplied (0x2 and 3x0)"),
  });
  Tensor a = ones({2, 0}).requires_grad_(true), b = ones({0, 3}).requires_grad_(true);
  matmul(a, b).sum().backward();
  CHECK(a.grad().sizes() == IntArrayRef({2, 0}));
  CHECK(b.grad().sizes() == IntArrayRef({0, 3}));
}

TEST_CASE("22: reductions of empty tensors") {
  check_rows(std::vector<ValueRow>{
      GIVES(sum(zeros({0})), {0}),
      GIVES(prod(zeros({0})), {1}),
      GIVES(mean(zeros({0})), {kNan}),
      GIVES(logsumexp(zeros({0}), {0}), {-kInf}),
      GIVES(all(zeros({0})), {1}),
      GIVES(any(zeros({0})), {0}),
      GIVES(first(max(zeros({2, 0}), 0)), {}),
  });
  check_rows(std::vector<ErrorRow>{
      THROWS(max(zeros({0})), "max"),
      THROWS(argmax(zeros({0})), "argmax"),
      THROWS(max(zeros({2, 0}), 1), "non-zero size"),
  });
}

TEST_CASE("shapes: factories") {
  CHECK(arange(0, 1, .1).size(0) == 10);
  check_rows(std::vector<ErrorRow>{
      THROWS(arange(0, 1, -1), "upper bound and lower bound inconsistent with step sign"),
      THROWS(arange(0, 1, 0), "step must be nonzero"),
      THROWS(zeros({-1}), "negative"),
      THROWS(stack({ones({2}), ones({3})}), "stack expects each tensor to be equal size"),
      THROWS(softmax(ones({2, 3}), 2), "expected to be in range of [-2, 1]"),
      THROWS(zeros({int64_t{1} << 40, int64_t{1} << 40}), "overflow"),
  });
  check_rows(std::vector<ValueRow>{
      GIVES(linspace(0, 1, 1), {0}),
      GIVES(linspace(0, 1, 5), {0, .25, .5, .75, 1}),
      GIVES(tril(ones({2, 3}), -1), {0, 0, 0, 1, 0, 0}),
      GIVES(triu(ones({2, 3}), 1), {0, 1, 1, 0, 0, 1}),
      GIVES(one_hot(tensor({0, 2})), {1, 0, 0, 0, 0, 1}),
  });
}

TEST_CASE("resize_ keeps the elements that come first in memory") {
  Tensor x = arange(6, kFloat).view({2, 3});
  const void* memory = x.data_ptr();
  CHECK(near(x.resize_({2, 2}), {0, 1, 2, 3}));
  CHECK(x.data_ptr() == memory);
  CHECK(near(x.resize_({3, 2}), {0, 1, 2, 3, 4, 5}));
  const Tensor part = x.slice(0, 1, 3);
  Tensor grown = part;
  grown.resize_({1000});
  CHECK(near(grown.slice(0, 0, 4), {2, 3, 4, 5}));
  CHECK(near(x, {0, 1, 2, 3, 4, 5}));
  CHECK(empty({0}).resize_({2, 0, 3}).sizes().vec() == Sizes{2, 0, 3});
  CHECK(error_of([] { ones({1}).requires_grad_(true).resize_({2}); }) ==
        "cannot resize variables that require grad");
  CHECK_FALSE(error_of([] { ones({1}).resize_({-1}); }).empty());
}

TEST_CASE("new_zeros and its kin have the tensor's dtype unless told otherwise") {
  const Tensor x = ones({2}, kHalf);
  CHECK(x.new_zeros({3}).scalar_type() == kHalf);
  CHECK(near(x.new_zeros({3}), {0, 0, 0}));
  CHECK(near(x.new_ones({1, 2}), {1, 1}));
  CHECK(near(x.new_full({2}, 2.5), {2.5, 2.5}));
  CHECK(x.new_full({2}, 2.5, kDouble).scalar_type() == kDouble);
  CHECK(x.new_empty({4, 0}).sizes().vec() == Sizes{4, 0});
  // As in LibTorch, whose new_... leave this option aside; its ..._like do not.
  CHECK_FALSE(x.new_zeros({1}, TensorOptions().requires_grad(true)).requires_grad());
  CHECK(zeros_like(x, TensorOptions().requires_grad(true)).requires_grad());
  CHECK(error_of([&] { x.to(TensorOptions().requires_grad(true)); }).find("requires_grad_()") !=
        std::string::npos);
}

TEST_CASE("copies keep the order of dimensions, without gaps") {
  const auto strides = [](const Tensor& x) { return x.strides().vec(); };
  const Tensor gaps = arange(24, kFloat).view({4, 6}).slice(0, 0, 4, 2).slice(1, 0, 6, 2).t();
  CHECK(strides(gaps) == Sizes{2, 12});
  for (const Tensor& copy : {gaps.clone(), gaps.to(kDouble), gaps.to(kCPU, kHalf),
                             gaps.to(kFloat, false, true), empty_like(gaps)}) {
    CHECK(strides(copy) == Sizes{1, 3});
  }
  CHECK(near(gaps.to(kDouble), {0, 12, 2, 14, 4, 16}));
  CHECK(strides(gaps.clone(MemoryFormat::Contiguous)) == Sizes{2, 1});
  CHECK(strides(gaps.to(kDouble, false, false, MemoryFormat::Contiguous)) == Sizes{2, 1});
  CHECK(strides(gaps.to(kFloat, false, true, MemoryFormat::Contiguous)) == Sizes{2, 1});
  CHECK(gaps.to(kFloat, false, false, MemoryFormat::Contiguous).is_same(gaps));
  CHECK(empty({2}, kInt, std::nullopt).scalar_type() == kInt);
  CHECK(error_of([] { empty({2}, kInt, MemoryFormat::Preserve); }).find("Preserve") !=
        std::string::npos);
  // An expanded dimension has no order.
  const Tensor wide = ones({3, 1}).expand({3, 4});
  CHECK(strides(wide.clone()) == Sizes{4, 1});
  CHECK(strides(wide.t().to(kDouble)) == Sizes{3, 1});
  const Tensor single = ones({3, 1, 8}).slice(2, 0, 8, 4).permute({2, 1, 0});
  CHECK(strides(single.clone()) == Sizes{1, 2, 2});
  CHECK(strides(ones({2, 3, 4, 10}).slice(3, 0, 10, 2).permute({3, 0, 2, 1}).to(kInt)) ==
        Sizes{1, 60, 5, 20});
}

TEST_CASE("copies keep strides that do not matter") {
  const auto strides = [](const Tensor& x) { return x.strides().vec(); };
  const Tensor single = empty_strided({3, 1, 1}, {1, 4, 1}).fill_(1);
  const Tensor nothing = empty({0, 3}).t();
  for (const Tensor& copy : {single.clone(), single.to(kDouble), empty_like(single)}) {
    CHECK(strides(copy) == Sizes{1, 4, 1});
  }
  for (const Tensor& copy : {nothing.clone(), nothing.to(kDouble), empty_like(nothing)}) {
    CHECK(strides(copy) == Sizes{1, 3});
  }
  CHECK(near(single.to(kCPU, kDouble), {1, 1, 1}));
}

TEST_CASE("a linear layer without features gives its bias, whatever the shape") {
  const Tensor bias = tensor({1., 2.}, kFloat);
  CHECK(near(linear(ones({1, 2, 0}), ones({2, 0}), bias), {1, 2, 1, 2}));
  CHECK(linear(ones({2, 3, 0}), ones({2, 0})).sizes().vec() == Sizes{2, 3, 2});
  CHECK(ones({2, 3, 0}).matmul(ones({0, 2})).sizes().vec() == Sizes{2, 3, 2});
  CHECK(linear(ones({0, 3, 4}), ones({2, 4}), bias).sizes().vec() == Sizes{0, 3, 2});
}

TEST_CASE("the host has no number") {
  float values[] = {1, 2};
  const Tensor borrowed = from_blob(values, {2}, TensorOptions(Device("cpu:0")));
  CHECK(borrowed.device() == Device(kCPU));
  CHECK(near(borrowed.clone(), {1, 2}));
  CHECK(borrowed.to(Device("cpu:0")).is_same(borrowed));
}

TEST_CASE("out forms of two results, and what out forms refuse") {
  const Tensor x = tensor({{3., 1.}, {2., 5.}});
  Tensor values = empty({0}), indices = empty({0}, kLong);
  const auto results = max_out(values, indices, x, 1);
  CHECK(std::get<0>(results).is_same(values));
  CHECK(near(values, {3, 5}));
  CHECK(near(indices, {0, 1}));
  sort_out(values, indices, x, 0, true);
  CHECK(near(values, {3, 5, 2, 1}));
  CHECK(near(indices, {0, 1, 1, 0}));
  // An input may be the target too.
  Tensor both = tensor({1., 2.});
  cat_out(both, {both, both, ones({1})});
  CHECK(near(both, {1, 2, 1, 2, 1}));
  cumsum_out(both, both, 0);
  CHECK(near(both, {1, 3, 4, 6, 7}));
  const Tensor tracked = ones({2}).requires_grad_(true);
  CHECK(error_of([&] { cumsum_out(both, tracked, 0); }).find("don't support automatic") !=
        std::string::npos);
  {
    const NoGradGuard quiet;
    CHECK(near(cumsum_out(both, tracked, 0), {1, 2}));
  }
  CHECK(error_of([&] { exp_out(indices, x); }).find("can't be cast") != std::string::npos);
  CHECK(error_of([&] { softmax_out(indices, x, 1); }).find("can't be cast") != std::string::npos);
}
