#include "support/rows.h"
#include "taper/optim/optim.h"

// Optimizers on one double parameter that starts at 1, with the gradients given.

using namespace taper;
using namespace support;

namespace {

template <class Optimizer, class Options>
double after(Options options, const std::vector<double>& gradients) {
  Tensor p = make({1}, {1}, kDouble).requires_grad_(true);
  Optimizer optimizer({p}, options);
  for (const double g : gradients) {
    p.mutable_grad() = make({g}, {1}, kDouble);
    optimizer.step();
  }
  return p.item<double>();
}

double sgd(optim::SGDOptions options, const std::vector<double>& gradients) {
  return after<optim::SGD>(options, gradients);
}
double adam(optim::AdamOptions options, const std::vector<double>& gradients) {
  return after<optim::Adam>(options, gradients);
}
double adamw(optim::AdamWOptions options, const std::vector<double>& gradients) {
  return after<optim::AdamW>(options, gradients);
}

struct Row {
  const char* what;
  double got, expected;
};

}  // namespace

TEST_CASE("39: steps of the optimizers") {
  using namespace optim;
  const Row rows[] = {
      {"Adam adds weight decay to the gradient", adam(AdamOptions(.1).weight_decay(.1), {0}),
       1 - .1 * .1 / (.1 + 1e-8)},
      {"AdamW shrinks the weight first", adamw(AdamWOptions(.1).weight_decay(.1), {0}), .99},
      {"eps counts outside the root, after the correction", adam(AdamOptions(.1), {1e-8}), .95},
      {"Adam's first step has the size of lr", adam(AdamOptions(.1), {1e-3}), 0.90000099999},
      {"and the gradient's sign", adam(AdamOptions(.1), {-5}), 1.1},
      {"Adam, three steps", adam(AdamOptions(.1).weight_decay(.1), {1, -.5, .25}), .818278508491},
      {"AdamW, two steps", adamw(AdamWOptions(.1).weight_decay(.01), {1, -.5}), .87146729737},
      {"SGD's first buffer is undamped", sgd(SGDOptions(.1).momentum(.9).dampening(.5), {1}), .9},
      {"SGD, dampening", sgd(SGDOptions(.1).momentum(.9).dampening(.5), {1, 1}), .76},
      {"SGD, Nesterov", sgd(SGDOptions(.1).momentum(.9).nesterov(true), {1}), .81},
      {"SGD, weight decay", sgd(SGDOptions(.1).weight_decay(.5), {1}), .85},
  };
  for (const Row& row : rows) {
    INFO(row.what << ": got " << row.got << ", expected " << row.expected);
    CHECK(std::abs(row.got - row.expected) < 1e-9);
  }
}

TEST_CASE("a parameter without a gradient stays, weight decay or not") {
  Tensor p = make({1}, {1}, kDouble).requires_grad_(true);
  optim::AdamW adamw({p}, optim::AdamWOptions(.1).weight_decay(.1));
  adamw.step();
  optim::SGD sgd({p}, optim::SGDOptions(.1).weight_decay(.1));
  sgd.step();
  CHECK(near(p, {1}, 0));
}

TEST_CASE("wrong options") {
  const Tensor p = ones({1}).requires_grad_(true);
  CHECK_FALSE(error_of([&] { optim::SGD({p}, optim::SGDOptions(-1)); }).empty());
  CHECK_FALSE(error_of([&] { optim::Adam({p}, optim::AdamOptions(.1).eps(-1)); }).empty());
  CHECK_FALSE(error_of([&] { optim::SGD({p}, optim::SGDOptions(.1).nesterov(true)); }).empty());
  CHECK_FALSE(error_of([&] { optim::SGD(std::vector<Tensor>{}, optim::SGDOptions(.1)); }).empty());
}

TEST_CASE("StepLR: Python's rule") {
  Tensor p = ones({1}).requires_grad_(true);
  p.mutable_grad() = zeros({1});
  optim::SGD optimizer({p}, optim::SGDOptions(1.0));
  optim::StepLR scheduler(optimizer, 2, .1);
  std::vector<double> rates;
  for (int i = 0; i < 5; ++i) {
    optimizer.step();
    scheduler.step();
    rates.push_back(optimizer.param_groups()[0].options().get_lr());
  }
  INFO(text(rates));
  CHECK(near(rates, {1, .1, .1, .01, .01}, 1e-9));
}
