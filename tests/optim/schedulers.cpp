#include "taper/optim/schedulers.h"

#include <sstream>

#include "optim/golden.h"
#include "support/rows.h"
#include "taper/nn/serialize.h"
#include "taper/optim/reduce_on_plateau.h"
#include "taper/optim/sgd.h"

// Learning rates of twelve epochs, two groups that start at 0.5 and 0.1, against PyTorch's.

using namespace taper;
using namespace support;
using namespace taper::optim;

namespace {

const std::vector<double> kMetrics = {1.0, 0.9, 0.95, 0.91, 0.9, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6};

struct TwoGroups {
  TwoGroups() : optimizer(groups(), SGDOptions(1.0)) {}
  static std::vector<OptimizerParamGroup> groups() {
    std::vector<OptimizerParamGroup> out;
    for (const double lr : {.5, .1}) {
      out.emplace_back(std::vector<Tensor>{zeros({1}).requires_grad_(true)},
                       std::make_unique<SGDOptions>(lr));
    }
    return out;
  }
  std::vector<double> rates() const {
    return {optimizer.param_groups()[0].options().get_lr(),
            optimizer.param_groups()[1].options().get_lr()};
  }
  SGD optimizer;
};

template <class Step>
std::vector<double> twelve(const TwoGroups& two, Step step) {
  std::vector<double> rates = two.rates();
  for (size_t epoch = 0; epoch < 12; ++epoch) {
    step(epoch);
    for (const double rate : two.rates()) rates.push_back(rate);
  }
  return rates;
}

template <class Scheduler, class... Arguments>
std::vector<double> rates(Arguments... arguments) {
  TwoGroups two;
  Scheduler scheduler(two.optimizer, arguments...);
  return twelve(two, [&](size_t) { scheduler.step(); });
}

void check(const char* what, const std::vector<double>& got, const std::vector<double>& expected) {
  INFO(what << " gives " << text(got) << ", PyTorch " << text(expected));
  CHECK(near(got, expected, 1e-14));
}

}  // namespace

TEST_CASE("schedulers follow PyTorch's") {
  check("StepLR", rates<StepLR>(3u, .5), kStep);
  check("MultiStepLR", rates<MultiStepLR>(std::vector<int64_t>{2, 5, 5}, .5), kMultiStep);
  check("ExponentialLR", rates<ExponentialLR>(.9), kExponential);
  check("CosineAnnealingLR", rates<CosineAnnealingLR>(4, .01), kCosine);
  check("LambdaLR", rates<LambdaLR>([](int64_t epoch) { return 1. / double(epoch + 2); }), kLambda);
  check("LambdaLR, one each",
        rates<LambdaLR>(
            std::vector<LambdaLR::Lambda>{[](int64_t epoch) { return std::pow(.9, double(epoch)); },
                                          [](int64_t epoch) { return 1. + double(epoch); }}),
        kLambdas);
  check("LinearLR", rates<LinearLR>(.25, 1., 4), kLinear);
}

TEST_CASE("two schedulers on one optimizer") {
  TwoGroups two;
  LinearLR warm_up(two.optimizer, .5, 1, 3);
  ExponentialLR decay(two.optimizer, .9);
  check("LinearLR and ExponentialLR",
        twelve(two,
               [&](size_t) {
                 warm_up.step();
                 decay.step();
               }),
        kChained);
}

TEST_CASE("ReduceLROnPlateau follows PyTorch's") {
  TwoGroups two;
  ReduceLROnPlateau scheduler(two.optimizer, ReduceLROnPlateau::min, .5, 1, 1e-4,
                              ReduceLROnPlateau::rel, 1, {.06});
  check("ReduceLROnPlateau", twelve(two, [&](size_t i) { scheduler.step(kMetrics[i]); }), kPlateau);
}

TEST_CASE("schedulers continue from a saved state") {
  std::stringstream optimizer_file, scheduler_file;
  {
    TwoGroups two;
    CosineAnnealingLR scheduler(two.optimizer, 4, .01);
    for (int i = 0; i < 5; ++i) scheduler.step();
    save(two.optimizer, optimizer_file);
    serialize::OutputArchive archive;
    scheduler.save(archive);
    archive.save_to(scheduler_file);
  }
  TwoGroups two;
  CosineAnnealingLR scheduler(two.optimizer, 4, .01);
  load(two.optimizer, optimizer_file);
  serialize::InputArchive archive;
  archive.load_from(scheduler_file);
  scheduler.load(archive);
  CHECK(scheduler.last_epoch() == 5);
  scheduler.step();
  CHECK(two.rates() == std::vector<double>(kCosine.begin() + 12, kCosine.begin() + 14));
}

TEST_CASE("schedulers refuse what makes no sense") {
  TwoGroups two;
  CHECK_FALSE(error_of([&] { StepLR(two.optimizer, 0); }).empty());
  CHECK_FALSE(error_of([&] { CosineAnnealingLR(two.optimizer, 0); }).empty());
  CHECK_FALSE(error_of([&] { LinearLR(two.optimizer, 0); }).empty());
  CHECK_FALSE(error_of([&] {
                LambdaLR(two.optimizer,
                         std::vector<LambdaLR::Lambda>(3, [](int64_t) { return 1.; }));
              }).empty());
  CHECK_FALSE(
      error_of([&] { ReduceLROnPlateau(two.optimizer, ReduceLROnPlateau::min, 1.5); }).empty());
  CosineAnnealingLR scheduler(two.optimizer, 2);
  two.optimizer.add_param_group(OptimizerParamGroup({ones({1}).requires_grad_(true)}));
  CHECK(error_of([&] { scheduler.step(); }).find("param groups") != std::string::npos);
}
