#include "support/rows.h"
#include "taper/nn/nn.h"

using namespace taper;
using namespace support;
using nn::utils::clip_grad_norm_;
using nn::utils::clip_grad_value_;

namespace {

Tensor with_grad(const Tensor& gradient) {
  Tensor parameter = zeros(gradient.sizes(), gradient.options()).requires_grad_();
  parameter.mutable_grad() = gradient;
  return parameter;
}

}  // namespace

TEST_CASE("clip_grad_norm_: every kind of norm over several tensors") {
  struct Row {
    double norm_type, max_norm, norm;
    std::vector<double> first, second;
  };
  // Gradients [3, -4] and [[12]].
  const Row rows[] = {
      {2, 6.5, 13, {1.5, -2}, {6}},
      {2, 100, 13, {3, -4}, {12}},
      {1, 1.9, 19, {.3, -.4}, {1.2}},
      {kInf, 6, 12, {1.5, -2}, {6}},
      {-kInf, 1, 3, {1, -4. / 3}, {4}},  // the smallest element of each tensor
      {0, 1, 2, {1.5, -2}, {6}},         // LibTorch's rule: the number of tensors
      {3,
       1,
       std::cbrt(27. + 64 + 1728),
       {3 / std::cbrt(1819.), -4 / std::cbrt(1819.)},
       {12 / std::cbrt(1819.)}},
  };
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const Row& row : rows) {
      const std::vector<Tensor> parameters = {with_grad(make({3, -4}, {2}, dtype)), zeros({5}),
                                              with_grad(make({12}, {1, 1}, dtype))};
      INFO("norm type " << row.norm_type << ", at most " << row.max_norm);
      const double norm = clip_grad_norm_(parameters, row.max_norm, row.norm_type);
      CHECK(norm == Approx(row.norm));
      CHECK(near(parameters[0].grad(), row.first, 2e-6));
      CHECK(near(parameters[2].grad(), row.second, 2e-6));
    }
  }
}

TEST_CASE("clip_grad_norm_: nothing to clip") {
  CHECK(clip_grad_norm_(std::vector<Tensor>{}, 1) == 0);
  CHECK(clip_grad_norm_({zeros({2}), zeros({3})}, 1) == 0);
  CHECK(clip_grad_norm_(with_grad(zeros({2})), 1) == 0);
  CHECK(clip_grad_norm_(with_grad(zeros({0})), 1) == 0);
}

TEST_CASE("clip_grad_norm_: infinite and NaN gradients") {
  for (const double bad : {kInf, -kInf, kNan}) {
    const Tensor kept = with_grad(tensor({bad, 1.}));
    CHECK(error_of([&] {
            clip_grad_norm_(kept, 1, 2, true);
          }).find("The total norm of order 2 for gradients from `parameters` is non-finite") == 0);
    CHECK(near(kept.grad(), {bad, 1}));
  }
  const Tensor infinite = with_grad(tensor({kInf, 1.}));
  CHECK(clip_grad_norm_(infinite, 1) == kInf);
  CHECK(near(infinite.grad(), {kNan, 0}));
  const Tensor nan = with_grad(tensor({kNan, 1.}));
  CHECK(std::isnan(clip_grad_norm_(nan, 1)));
  CHECK(near(nan.grad(), {kNan, kNan}));
  CHECK(std::isnan(clip_grad_norm_(with_grad(tensor({1., kNan})), 1, kInf)));
}

TEST_CASE("clip_grad_norm_: gradients that are not dense, of several dtypes, halves") {
  const Tensor transposed = with_grad(tensor({{1., 2.}, {2., 4.}}).t());
  CHECK(clip_grad_norm_(transposed, 2.5) == Approx(5));
  CHECK(near(transposed.grad(), {.5, 1, 1, 2}));

  const Tensor single = with_grad(make({3}, {1}, kFloat)),
               wide = with_grad(make({4}, {1}, kDouble));
  CHECK(clip_grad_norm_({single, wide}, 1) == Approx(5));
  CHECK(near(single.grad(), {.6}, 1e-6));
  CHECK(near(wide.grad(), {.8}, 1e-6));

  // The squares are beyond half's range; the norm is taken in float.
  const Tensor half = with_grad(make({300, 400}, {2}, kHalf));
  CHECK(clip_grad_norm_(half, 5) == Approx(500));
  CHECK(near(half.grad(), {3, 4}, 1e-2));
}

TEST_CASE("clip_grad_norm_ leaves the version of the gradient's history alone") {
  const Tensor x = tensor({3., 4.}).requires_grad_();
  (x * x).sum().backward();
  clip_grad_norm_(x, 5);
  CHECK(near(x.grad(), {3, 4}));
  CHECK(near(x, {3, 4}));
}

TEST_CASE("clip_grad_value_ limits each element") {
  const std::vector<Tensor> parameters = {with_grad(tensor({-3., .5, 2.})), zeros({2})};
  clip_grad_value_(parameters, 1);
  CHECK(near(parameters[0].grad(), {-1, .5, 1}));
  clip_grad_value_({parameters[0]}, .25);
  CHECK(near(parameters[0].grad(), {-.25, .25, .25}));
  clip_grad_value_(parameters[0], .125);
  CHECK(near(parameters[0].grad(), {-.125, .125, .125}));
}

TEST_CASE("parameters to a vector and back") {
  nn::Linear linear(2, 1);
  const Tensor vector = nn::utils::parameters_to_vector(linear->parameters());
  CHECK(vector.sizes().equals({3}));
  vector.sum().backward();
  CHECK(near(linear->weight.grad(), {1, 1}));
  nn::utils::vector_to_parameters(tensor({1., 2., 3.}), linear->parameters());
  CHECK(near(linear->weight, {1, 2}));
  CHECK(near(linear->bias, {3}));
  CHECK(linear->weight.requires_grad());
  CHECK(near(linear(ones({1, 2})), {6}));
  CHECK_FALSE(
      error_of([&] { nn::utils::vector_to_parameters(ones({2}), linear->parameters()); }).empty());
}
