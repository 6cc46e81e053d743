#include "support/rows.h"
#include "taper/nn/nn.h"
#include "taper/optim/optim.h"

// Groups of parameters. The expected settings are LibTorch 2.15's.

using namespace taper;
using namespace support;
using namespace taper::optim;

namespace {

Tensor parameter() { return ones({1}).requires_grad_(true); }

// The settings of a group with these options, under these defaults.
template <class Kind, class Options>
Options merged(const Options& group, const Options& defaults) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{parameter()}, std::make_unique<Options>(group));
  Kind optimizer(groups, defaults);
  return static_cast<const Options&>(optimizer.param_groups()[0].options());
}

// Every setting, in the order in which the options list them.
struct Recorder {
  std::vector<double>& out;
  void operator()(const char*, double value) const { out.push_back(value); }
  void operator()(const char*, const std::tuple<double, double>& pair) const {
    out.push_back(std::get<0>(pair));
    out.push_back(std::get<1>(pair));
  }
};
template <class Options>
std::vector<double> settings(const Options& options) {
  std::vector<double> out;
  Options::fields(options, Recorder{out});
  return out;
}

struct Row {
  const char* what;
  std::vector<double> got, expected;
};
void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.what << ": got " << text(row.got) << ", expected " << text(row.expected));
    CHECK(row.got == row.expected);
  }
}

}  // namespace

TEST_CASE("what a group leaves at its first value comes from the optimizer's defaults") {
  const auto sgd = [](const SGDOptions& group) {
    return settings(merged<SGD>(
        group, SGDOptions(.01).momentum(.3).dampening(.2).weight_decay(.1).maximize(true)));
  };
  const auto adam = [](const AdamOptions& group) {
    return settings(merged<Adam>(
        group, AdamOptions(.2).betas({.5, .6}).eps(1e-3).weight_decay(.3).amsgrad(true)));
  };
  const auto adamw = [](const AdamWOptions& group) {
    return settings(merged<AdamW>(
        group, AdamWOptions(.2).betas({.5, .6}).eps(1e-3).weight_decay(.3).amsgrad(true)));
  };
  const auto adagrad = [](const AdagradOptions& group) {
    return settings(merged<Adagrad>(
        group,
        AdagradOptions(.2).lr_decay(.1).weight_decay(.3).initial_accumulator_value(.7).eps(1e-3)));
  };
  const auto rmsprop = [](const RMSpropOptions& group) {
    return settings(merged<RMSprop>(
        group,
        RMSpropOptions(.2).alpha(.5).eps(1e-3).weight_decay(.3).momentum(.4).centered(true)));
  };
  check({
      // lr, momentum, dampening, weight_decay, nesterov, maximize
      {"SGD, lr", sgd(.5), {.5, .3, .2, .1, 0, 1}},
      {"SGD, lr 0", sgd(0.), {0, .3, .2, .1, 0, 1}},
      {"SGD, the lr that fresh options have", sgd(1e-3), {.01, .3, .2, .1, 0, 1}},
      {"SGD, momentum", sgd(SGDOptions(.5).momentum(.9)), {.5, .9, .2, .1, 0, 1}},
      {"SGD, momentum 0", sgd(SGDOptions(.5).momentum(0)), {.5, .3, .2, .1, 0, 1}},
      // lr, betas, eps, weight_decay, amsgrad, maximize
      {"Adam, nothing", adam({}), {.2, .5, .6, 1e-3, .3, 1, 0}},
      {"Adam, weight decay", adam(AdamOptions().weight_decay(.5)), {.2, .5, .6, 1e-3, .5, 1, 0}},
      {"Adam, the usual lr", adam(1e-3), {.2, .5, .6, 1e-3, .3, 1, 0}},
      {"Adam, betas are one setting",
       adam(AdamOptions().betas({.9, .5})),
       {.2, .9, .5, 1e-3, .3, 1, 0}},
      {"Adam, amsgrad off", adam(AdamOptions().amsgrad(false)), {.2, .5, .6, 1e-3, .3, 1, 0}},
      {"AdamW, no weight decay",
       adamw(AdamWOptions().weight_decay(0)),
       {.2, .5, .6, 1e-3, 0, 1, 0}},
      {"AdamW, the usual weight decay",
       adamw(AdamWOptions().weight_decay(1e-2)),
       {.2, .5, .6, 1e-3, .3, 1, 0}},
      {"AdamW, lr", adamw(5.), {5, .5, .6, 1e-3, .3, 1, 0}},
      // lr, lr_decay, weight_decay, initial_accumulator_value, eps, maximize
      {"Adagrad, nothing", adagrad({}), {.2, .1, .3, .7, 1e-3, 0}},
      {"Adagrad, lr_decay", adagrad(AdagradOptions(1).lr_decay(.9)), {1, .9, .3, .7, 1e-3, 0}},
      {"Adagrad, accumulator",
       adagrad(AdagradOptions().initial_accumulator_value(.1)),
       {.2, .1, .3, .1, 1e-3, 0}},
      // lr, alpha, eps, weight_decay, momentum, centered, maximize
      {"RMSprop, nothing", rmsprop({}), {.2, .5, 1e-3, .3, .4, 1, 0}},
      {"RMSprop, alpha", rmsprop(RMSpropOptions().alpha(.98)), {.2, .98, 1e-3, .3, .4, 1, 0}},
      {"RMSprop, momentum", rmsprop(RMSpropOptions(3).momentum(.1)), {3, .5, 1e-3, .3, .1, 1, 0}},
  });
}

TEST_CASE("a group that is added later takes the defaults of then") {
  SGD optimizer({parameter()}, SGDOptions(.01).momentum(.3));
  optimizer.defaults().set_lr(7);
  optimizer.add_param_group(OptimizerParamGroup(
      {parameter()}, std::make_unique<SGDOptions>(SGDOptions(1e-3).weight_decay(.1))));
  optimizer.add_param_group(OptimizerParamGroup({parameter()}));
  const auto of = [&](size_t group) {
    return settings(static_cast<const SGDOptions&>(optimizer.param_groups()[group].options()));
  };
  check({{"the first", of(0), {.01, .3, 0, 0, 0, 0}},
         {"with options", of(1), {7, .3, 0, .1, 0, 0}},
         {"without", of(2), {7, .3, 0, 0, 0, 0}}});
}

TEST_CASE("a group's settings are checked once they are complete") {
  const auto with = [](const SGDOptions& group, const SGDOptions& defaults) {
    return error_of([&] { merged<SGD>(group, defaults); });
  };
  CHECK(with(SGDOptions(.1).nesterov(true), SGDOptions(.1).momentum(.9)).empty());
  CHECK(with(SGDOptions(.1).nesterov(true), SGDOptions(.1)).find("Nesterov") == 0);
  CHECK(with(SGDOptions(.1).momentum(-1), SGDOptions(.1)).find("Invalid momentum") == 0);
}

TEST_CASE("a parameter that is listed twice is kept, and stepped, once") {
  const Tensor w = parameter();
  SGD optimizer({w, w}, SGDOptions(.25));
  CHECK(optimizer.size() == 1);
  optimizer.add_parameters({w, parameter()});
  CHECK(optimizer.size() == 2);
  w.sum().backward();
  optimizer.step();
  CHECK(near(w, {.75}, 0));
  const std::string twice = "some parameters appear in more than one parameter group";
  CHECK(error_of([&] { optimizer.add_param_group(OptimizerParamGroup({w})); }) == twice);
  optimizer.add_param_group(OptimizerParamGroup({parameter()}));
  CHECK(error_of([&] { optimizer.add_parameters(optimizer.param_groups()[1].params()); }) == twice);
}

namespace {

struct Tied : nn::Module {
  Tied() {
    first = register_module("first", nn::Linear(2, 2));
    second = register_module("second", first);
    register_parameter("again", first->weight);
    register_buffer("count", zeros({1}));
    register_buffer("number", named_buffers()["count"]);
  }
  nn::Linear first{nullptr}, second{nullptr};
};

}  // namespace

TEST_CASE("tied weights train as Python's do") {
  Tied model;
  CHECK(model.parameters().size() == 2);
  CHECK(model.named_parameters().size() == 5);
  CHECK(model.buffers().size() == 1);
  CHECK(model.named_buffers().size() == 2);
  const std::vector<double> before = values(model.first->weight);
  SGD optimizer(model.parameters(), SGDOptions(.5));
  model.first->weight.sum().backward();
  optimizer.step();
  std::vector<double> expected;
  for (const double value : before) expected.push_back(value - .5);
  CHECK(near(model.second->weight, expected, 1e-6));
}
