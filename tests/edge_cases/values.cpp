#include "support/rows.h"

// Values at special points; the numbers in names count reported cases, the same throughout this
// folder.

using namespace taper;
using namespace support;

namespace {

Tensor doubles(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}, kDouble);
}
Tensor first(const TensorPair& pair) { return std::get<0>(pair); }
Tensor second(const TensorPair& pair) { return std::get<1>(pair); }

}  // namespace

TEST_CASE("1: max and min propagate NaN") {
  check_rows(std::vector<ValueRow>{
      GIVES(max(tensor({1., kNan, 3.})), {kNan}),
      GIVES(argmax(tensor({1., kNan, 3.})), {1}),
      GIVES(min(tensor({1., kNan, 3.})), {kNan}),
      GIVES(amax(tensor({1., kNan, 3.})), {kNan}),
      GIVES(first(max(tensor({1., kNan, 3.}), 0)), {kNan}),
      GIVES(second(max(tensor({1., kNan, 3.}), 0)), {1}),
      GIVES(argmin(tensor({1., kNan, 3.})), {1}),
  });
}

TEST_CASE("2: NaN sorts as the largest") {
  check_rows(std::vector<ValueRow>{
      GIVES(first(sort(tensor({3., kNan, 1., 2.}))), {1, 2, 3, kNan}),
      GIVES(second(sort(tensor({3., kNan, 1., 2.}))), {2, 3, 0, 1}),
      GIVES(first(sort(tensor({3., kNan, 1., 2.}), -1, true)), {kNan, 3, 2, 1}),
      GIVES(first(topk(tensor({3., kNan, 1., 2.}), 2)), {kNan, 3}),
      GIVES(second(topk(tensor({3., kNan, 1., 2.}), 2)), {1, 0}),
  });
}

TEST_CASE("16: integer division floors, fmod truncates") {
  check_rows(std::vector<ValueRow>{
      GIVES(floor_divide(tensor({-7, 7, -7, 7}), tensor({2, 2, -2, -2})), {-4, 3, 3, -4}),
      GIVES(div(tensor({-7, 7, -7, 7}), tensor({2, 2, -2, -2}), "trunc"), {-3, 3, 3, -3}),
      GIVES(remainder(tensor({-7, 7, -7, 7}), tensor({2, 2, -2, -2})), {1, 1, -1, -1}),
      GIVES(fmod(tensor({-7, 7, -7, 7}), tensor({2, 2, -2, -2})), {-1, 1, -1, 1}),
  });
}

TEST_CASE("16: quotient * divisor + remainder is the dividend, for all pairs of int8") {
  const Tensor a = arange(-128, 128, kChar).reshape({256, 1});
  const Tensor b = cat({arange(-128, 0, kChar), arange(1, 128, kChar)}).reshape({1, 255});
  const Tensor again = floor_divide(a, b) * b + remainder(a, b);
  CHECK(equal(again, a.expand({256, 255})));
  const Tensor truncated = div(a, b, "trunc") * b + fmod(a, b);
  CHECK(equal(truncated, a.expand({256, 255})));
}

TEST_CASE("17: sums of halves accumulate in a wider type") {
  check_rows(std::vector<ValueRow>{
      GIVES(mean(full({300}, 300, kHalf)), {300}),
      GIVES(sum(ones({4096}, kHalf)), {4096}),
      GIVES(sum(ones({65536}, kBFloat16)), {65536}),
      GIVES(softmax(zeros({4096}, kHalf), 0).to(kFloat).sum(), {1}, 1e-3),
      GIVES(mean(full({4096}, 60000, kHalf)), {60000}),
      GIVES(cumsum(ones({4096}, kHalf), 0)[4095], {4096}),
      GIVES(norm(full({4}, 200, kHalf)), {400}),
  });
}

TEST_CASE("19, 20: softmax of infinities") {
  check_rows(std::vector<ValueRow>{
      GIVES(softmax(tensor({-kInf, -kInf}), 0), {kNan, kNan}),
      GIVES(log_softmax(tensor({-kInf, -kInf}), 0), {kNan, kNan}),
      GIVES(softmax(tensor({0., -kInf, 0.}), 0), {.5, 0, .5}),
      GIVES(GRADIENT(softmax(x, 0)[0], tensor({0., -kInf, 1.})), {.19661193, 0, -.19661193}),
      GIVES(softmax(tensor({1e4, 1e4 + 1}), 0), {.26894142, .73105858}),
      GIVES(softmax(tensor({kInf, 0.}), 0), {kNan, kNan}),
  });
}

TEST_CASE("NaN in pairs, clamps and signs") {
  check_rows(std::vector<ValueRow>{
      GIVES(maximum(tensor({1., kNan}), tensor({kNan, 2.})), {kNan, kNan}),
      GIVES(minimum(tensor({1., kNan}), tensor({kNan, 2.})), {kNan, kNan}),
      GIVES(fmax(tensor({1., kNan}), tensor({kNan, 2.})), {1, 2}),
      GIVES(fmin(tensor({1., kNan}), tensor({kNan, 2.})), {1, 2}),
      GIVES(clamp(tensor(kNan), 0, 1), {kNan}),
      GIVES(relu(tensor(kNan)), {kNan}),
      GIVES(clamp(tensor({0., 5., 10.}), 7, 3), {3, 3, 3}),
      GIVES(sign(tensor({kNan, -0.})), {0, 0}),
      GIVES(xlogy(tensor({0., 0.}), tensor({0., kNan})), {0, kNan}),
  });
}

TEST_CASE("functions at their limits") {
  check_rows(std::vector<ValueRow>{
      GIVES(sqrt(tensor(-1.)), {kNan}),
      GIVES(log(tensor({-1., 0.})), {kNan, -kInf}),
      GIVES(rsqrt(tensor(0.)), {kInf}),
      GIVES(1 / tensor(-0.), {-kInf}),
      GIVES(sigmoid(tensor({-200., 200.})), {0, 1}),
      GIVES(tanh(tensor({-100., 100.})), {-1, 1}),
      GIVES(exp(tensor({89., -104.})), {kInf, 0}),
      GIVES(log1p(doubles({1e-10})) * 1e10, {1}, 1e-9),
      GIVES(expm1(doubles({1e-10})) * 1e10, {1}, 1e-9),
      GIVES(log1p(tensor(1e-10)) * 1e10, {1}),
      GIVES(expm1(tensor(1e-10)) * 1e10, {1}),
      GIVES(log_sigmoid(tensor({-1000., 1000.})), {-1000, 0}),
      GIVES(softplus(tensor({1000., -1000.})), {1000, 0}),
      GIVES(logsumexp(tensor({-kInf, -kInf}), {0}), {-kInf}),
      GIVES(logsumexp(tensor({kInf, 1.}), {0}), {kInf}),
      GIVES(GRADIENT(logsumexp(x, {0}), tensor({-kInf, -kInf})), {kNan, kNan}),
      GIVES(lerp(tensor(0.), tensor(1.), 1.0), {1}),
      GIVES(round(tensor({.5, 1.5, 2.5, -.5, -1.5})), {0, 2, 2, -0., -2}),
  });
  CHECK_FALSE(allclose(tensor(kNan), tensor(kNan)));
  CHECK(allclose(tensor(kInf), tensor(kInf)));
  CHECK(allclose(tensor(kNan), tensor(kNan), 1e-5, 1e-8, true));
}

TEST_CASE("spread of one element, and of large values") {
  check_rows(std::vector<ValueRow>{
      GIVES(var(tensor({5.})), {kNan}),
      GIVES(var(tensor({5.}), false), {0}),
      GIVES(var(tensor({16777208., 16777224.}), false), {64}),
      GIVES(var(doubles({1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16})), {30}),
      GIVES(GRADIENT(taper::std(x), tensor({2., 2., 2.})), {0, 0, 0}),
      GIVES(GRADIENT(var(x), tensor({1., 2., 3.})), {-1, 0, 1}),
  });
}

TEST_CASE("a zero does not hide an infinity, and beta 0 hides everything") {
  check_rows(std::vector<ValueRow>{
      GIVES(matmul(tensor({{0., 1.}}), tensor({{kInf}, {1.}})), {kNan}),
      GIVES(addmm(full({1, 1}, kNan), ones({1, 2}), ones({2, 1}), 0), {2}),
      GIVES(baddbmm(full({1, 1, 1}, kNan), ones({1, 1, 2}), ones({1, 2, 1}), 0), {2}),
      GIVES(addmv(full({1}, kNan), ones({1, 2}), ones({2}), 0), {2}),
  });
}

TEST_CASE("a plain number names a dimension, not whether to correct") {
  const Tensor x = tensor({{1., 2.}, {3., 7.}});
  CHECK(near(x.var(1), {.5, 8}));
  CHECK(near(x.var(0), {2, 12.5}));
  CHECK(near(x.std(0).square(), {2, 12.5}));
  CHECK(near(x.sum(1), {3, 10}));
  CHECK(near(x.mean(0), {2, 4.5}));
}
