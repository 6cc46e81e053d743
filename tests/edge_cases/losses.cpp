#include "support/rows.h"

using namespace taper;
using namespace support;

namespace {

Tensor cross_entropy(const Tensor& x, const Tensor& target, int64_t reduction = Reduction::Mean,
                     int64_t ignore_index = -100, double smoothing = 0) {
  return cross_entropy_loss(x, target, std::nullopt, reduction, ignore_index, smoothing);
}

}  // namespace

TEST_CASE("6: cross entropy where every target is ignored") {
  check_rows(std::vector<ValueRow>{
      GIVES(cross_entropy(ones({2, 3}), tensor({-100, -100})), {kNan}),
      GIVES(cross_entropy(ones({2, 3}), tensor({-100, -100}), Reduction::Sum), {0}),
      GIVES(cross_entropy(ones({2, 3}), tensor({-100, -100}), Reduction::None), {0, 0}),
      GIVES(GRADIENT(cross_entropy(x, tensor({-100, -100})), ones({2, 3})), {0, 0, 0, 0, 0, 0}),
  });
}

TEST_CASE("7: cross entropy with a target that is no class") {
  check_rows(std::vector<ErrorRow>{
      THROWS(cross_entropy(ones({1, 3}), tensor({3})), "Target 3 is out of bounds"),
      THROWS(cross_entropy(ones({1, 3}), tensor({-4}), Reduction::Mean, -1),
             "Target -4 is out of bounds"),
      THROWS(cross_entropy(ones({2, 3}), ones({2, 3}, kLong)), "cross_entropy"),
      THROWS(cross_entropy(ones({2, 3}), tensor({0, 1}).to(kInt)),
             "expected target dtype to be Long or Byte, but got Int"),
      THROWS(cross_entropy(ones({2, 3}), tensor({0})), "Expected target of shape [2]"),
  });
}

TEST_CASE("losses: cross entropy") {
  check_rows(std::vector<ValueRow>{
      GIVES(cross_entropy(zeros({2, 2}), tensor({0, -100})), {.69314718}),
      GIVES(cross_entropy(tensor({{2., 0.}}), tensor({0}), 1, -100, .1), {.22692801}),
      GIVES(cross_entropy(tensor({{2., 0.}, {5., 1.}}), tensor({0, -100}), 1, -100, .1),
            {.22692801}),
      GIVES(cross_entropy(tensor({{2., 0.}}), tensor({{.5, .5}})), {1.12692801}),
      GIVES(cross_entropy(tensor({{1e30, -1e30}}), tensor({1})), {2e30}),
      GIVES(cross_entropy(zeros({2}), tensor({1})), {.69314718}),
      GIVES(cross_entropy(zeros({2}), tensor(1)), {.69314718}),
      GIVES(cross_entropy(zeros({1, 2}), tensor({1}).to(kByte)), {.69314718}),
      GIVES(cross_entropy(zeros({0, 3}), zeros({0}, kLong)), {kNan}),
      GIVES(cross_entropy_loss(zeros({2, 2}), tensor({0, 0}), tensor({0., 1.})), {kNan}),
  });
}

TEST_CASE("losses: binary cross entropy") {
  const Tensor x = tensor({1000., -1000., 1000., -1000.}).requires_grad_(true);
  const Tensor loss =
      binary_cross_entropy_with_logits(x, tensor({1., 0., 0., 1.}), {}, {}, Reduction::None);
  CHECK(near(loss, {0, 0, 1000, 1000}));
  loss.sum().backward();
  CHECK(near(x.grad(), {0, 0, 1, -1}));
  check_rows(std::vector<ValueRow>{
      GIVES(binary_cross_entropy(tensor({0., 1.}), tensor({1., 0.}), {}, Reduction::None),
            {100, 100}),
      GIVES(GRADIENT(binary_cross_entropy(x, tensor({1.})), tensor({0.})), {-1e12}),
  });
  CPU_ONLY("a device does not wait for the answer; the loss is NaN there");
  check_rows(std::vector<ErrorRow>{
      THROWS(binary_cross_entropy(tensor({1.5}), tensor({1.})), "between 0 and 1"),
  });
}

TEST_CASE("losses: kl_div, smooth_l1, huber") {
  const Tensor p = tensor({{.5, .5}, {.5, .5}}), q = tensor({{-1., -1.}, {-1., -1.}});
  CHECK(near(kl_div(q, p, Reduction::Sum) / 2, {.306852819}));  // batchmean
  CHECK(near(kl_div(q, p), {.15342641}));
  check_rows(std::vector<ValueRow>{
      GIVES(kl_div(tensor({-1., -2.}), tensor({0., 1.}), Reduction::None), {0, 2}),
      GIVES(smooth_l1_loss(tensor(2.), tensor(0.), Reduction::Mean, .5), {1.75}),
      GIVES(huber_loss(tensor(2.), tensor(0.), Reduction::Mean, .5), {.875}),
      GIVES(mse_loss(zeros({0}), zeros({0})), {kNan}),
  });
}

TEST_CASE("40: dropout at its extremes") {
  Tensor x = tensor({1., 2., 3.}).requires_grad_(true);
  Tensor y = dropout(x, 1, true);
  CHECK(near(y, {0, 0, 0}));
  y.sum().backward();
  CHECK(near(x.grad(), {0, 0, 0}));
  CHECK(near(dropout(x, 0, true), {1, 2, 3}));
  CHECK(near(dropout(x, .5, false), {1, 2, 3}));
  CHECK_FALSE(std::isinf(dropout(tensor({kInf}), 1, true).item<double>()));
  check_rows(std::vector<ErrorRow>{THROWS(dropout(ones({2}), 1.1, true), "between 0 and 1")});
}
