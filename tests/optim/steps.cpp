#include "optim/golden.h"
#include "support/rows.h"
#include "taper/autograd/grad_mode.h"
#include "taper/optim/optim.h"

// Steps of the optimizers: PyTorch's numbers for all their options, and what a step may and may not
// touch.

using namespace taper;
using namespace support;
using namespace taper::optim;

namespace {

const std::vector<std::vector<double>> kGradients = {
    {0.5, -1.25, 2.0}, {-0.75, 0.1, 0.3}, {1.5, 1.0, -0.6}, {0.2, -0.4, 0.9}, {-1.1, 0.8, 0.05}};

Tensor start() { return make({1.0, -2.0, 0.5}, {3}, kDouble).requires_grad_(true); }

void run(Optimizer& optimizer, Tensor& p, size_t first = 0, size_t last = 5) {
  for (size_t i = first; i < last; ++i) {
    p.mutable_grad() = make(kGradients[i], {3}, kDouble);
    optimizer.step();
  }
}

template <class Kind, class Options>
std::vector<double> after(const Options& options) {
  Tensor p = start();
  Kind optimizer({p}, options);
  run(optimizer, p);
  return values(p);
}

struct Row {
  const char* what;
  std::vector<double> (*run)();
  std::vector<double> expected;
};
#define STEPS(Kind, options, ...)                                  \
  Row {                                                            \
    #options, [] { return after<Kind>(options); }, { __VA_ARGS__ } \
  }

Tensor leaf(IntArrayRef sizes) { return ones(sizes, kDouble).requires_grad_(true); }

}  // namespace

TEST_CASE("five steps of every optimizer, with all options, give PyTorch's numbers") {
  const std::vector<Row> rows = {OPTIMIZER_ROWS};
  CHECK(rows.size() > 70);
  for (const Row& row : rows) {
    const std::vector<double> got = row.run();
    INFO(row.what << " gives " << text(got) << ", PyTorch " << text(row.expected));
    CHECK(near(got, row.expected, 1e-12));
  }
}

TEST_CASE("a parameter that is not contiguous is stepped in place") {
  Tensor storage = make({1, 0, -2, 0, 0.5, 0}, {3, 2}, kDouble);
  Tensor p = storage.select(1, 0).detach().requires_grad_(true);
  REQUIRE_FALSE(p.is_contiguous());
  Adam optimizer({p}, AdamOptions(.1).amsgrad(true).weight_decay(.1));
  run(optimizer, p);
  CHECK(near(p, after<Adam>(AdamOptions(.1).amsgrad(true).weight_decay(.1)), 1e-15));
  CHECK(near(storage.select(1, 1), {0, 0, 0}, 0));
}

TEST_CASE("a gradient that is not contiguous") {
  Tensor p = leaf({2, 3});
  p.mutable_grad() = make({1, 4, 2, 5, 3, 6}, {3, 2}, kDouble).t();
  SGD({p}, SGDOptions(1.0)).step();
  CHECK(near(p, {0, -1, -2, -3, -4, -5}, 0));
}

TEST_CASE("parameters of several dtypes in one optimizer") {
  std::vector<Tensor> params;
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    params.push_back(ones({2}, dtype).requires_grad_(true));
    params.back().mutable_grad() = ones({2}, dtype);
  }
  SGD optimizer(params, SGDOptions(.5).momentum(.5));
  optimizer.step();
  optimizer.step();
  for (const Tensor& p : params) CHECK(near(p, {-.25, -.25}, 0));
}

TEST_CASE("empty and 0-dim parameters") {
  Tensor none = leaf({0, 3}), one = make({2}, {}, kDouble).requires_grad_(true);
  none.mutable_grad() = zeros({0, 3}, kDouble);
  one.mutable_grad() = make({1}, {}, kDouble);
  Adam optimizer({none, one}, AdamOptions(.5));
  optimizer.step();
  CHECK(near(one, {1.5}, 1e-7));
}

TEST_CASE("a parameter without a gradient is left alone") {
  Tensor with = leaf({2}), without = leaf({2});
  with.mutable_grad() = ones({2}, kDouble);
  AdamW optimizer({with, without}, AdamWOptions(.1).weight_decay(.5));
  optimizer.step();
  CHECK(near(without, {1, 1}, 0));
  CHECK(without._version() == 0);
  CHECK(optimizer.state().size() == 1);
}

TEST_CASE("NaN in a gradient stays in its own element") {
  Tensor p = leaf({3});
  p.mutable_grad() = make({kNan, 1, kInf}, {3}, kDouble);
  SGD({p}, SGDOptions(1.0)).step();
  CHECK(near(p, {kNan, 0, -kInf}, 0));
}

TEST_CASE("a step raises the version, so that a saved parameter is protected") {
  Tensor w = leaf({2}), x = leaf({2});
  SGD optimizer({w}, SGDOptions(.1));
  const Tensor loss = (x * w).sum();
  w.mutable_grad() = ones({2}, kDouble);
  optimizer.step();
  CHECK(error_of([&] { loss.backward(); }).find("modified by an inplace operation") !=
        std::string::npos);
}

TEST_CASE("groups have settings of their own") {
  Tensor a = leaf({1}), b = leaf({1});
  for (Tensor* p : {&a, &b}) p->mutable_grad() = ones({1}, kDouble);
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{a});
  groups.emplace_back(std::vector<Tensor>{b}, std::make_unique<SGDOptions>(.5));
  SGD optimizer(groups, SGDOptions(.1));
  optimizer.step();
  CHECK(near(a, {.9}, 1e-15));
  CHECK(near(b, {.5}, 1e-15));
  optimizer.param_groups()[0].options().set_lr(.2);
  static_cast<SGDOptions&>(optimizer.param_groups()[1].options()).lr(.25);
  optimizer.step();
  CHECK(near(a, {.7}, 1e-15));
  CHECK(near(b, {.25}, 1e-15));
  CHECK(optimizer.defaults().get_lr() == .1);
}

TEST_CASE("a group added later") {
  Tensor a = leaf({1}), b = leaf({1});
  SGD optimizer({a}, SGDOptions(.1));
  optimizer.add_param_group(OptimizerParamGroup({b}));
  CHECK(optimizer.size() == 2);
  CHECK(optimizer.param_groups()[1].has_options());
  CHECK(error_of([&] { optimizer.add_param_group(OptimizerParamGroup({a})); }) ==
        "some parameters appear in more than one parameter group");
  CHECK(optimizer.size() == 2);
}

TEST_CASE("zero_grad drops gradients, or fills them with zeros") {
  Tensor p = leaf({2});
  SGD optimizer({p}, SGDOptions(.1));
  optimizer.zero_grad();
  p.mutable_grad() = ones({2}, kDouble);
  optimizer.zero_grad(/*set_to_none=*/false);
  CHECK(near(p.grad(), {0, 0}, 0));
  optimizer.zero_grad();
  CHECK_FALSE(p.grad().defined());
}

TEST_CASE("a closure is called with recording on, and its loss comes back") {
  Tensor p = leaf({1});
  SGD optimizer({p}, SGDOptions(.1));
  const NoGradGuard quiet;
  const Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    Tensor value = (p * p).sum();
    value.backward();
    return value;
  });
  CHECK(near(loss, {1}, 0));
  CHECK(near(p, {.8}, 1e-15));
  CHECK_FALSE(optimizer.step().defined());
}

TEST_CASE("gradient scaling: an overflow skips the step, a scale is undone") {
  Tensor p = leaf({1});
  p.mutable_grad() = full({1}, 8, kDouble);
  Adam adam({p}, AdamOptions(.1));
  Tensor found = ones({1});
  adam.set_grad_scale(found, full({1}, .125));
  adam.step();
  CHECK(near(p, {1}, 0));
  // A device's flag is read by the kernel, so that the host need not wait.
  CHECK(adam.state().empty() == device().is_cpu());
  SGD sgd({p}, SGDOptions(.5));
  found.zero_();
  sgd.set_grad_scale(found, full({1}, .125));
  sgd.step();
  CHECK(near(p, {.5}, 0));
}

TEST_CASE("wrong options, in PyTorch's words") {
  const Tensor p = leaf({1});
  const std::vector<Tensor> params{p};
  struct WrongRow {
    std::function<void()> make;
    const char* words;
  };
  const WrongRow rows[] = {
      {[&] { SGD(params, SGDOptions(-1)); }, "Invalid learning rate: -1"},
      {[&] { SGD(params, SGDOptions(kNan)); }, "Invalid learning rate: nan"},
      {[&] { SGD(params, SGDOptions(.1).momentum(-1)); }, "Invalid momentum value: -1"},
      {[&] { SGD(params, SGDOptions(.1).weight_decay(-1)); }, "Invalid weight_decay value: -1"},
      {[&] { SGD(params, SGDOptions(.1).nesterov(true)); },
       "Nesterov momentum requires a momentum and zero dampening"},
      {[&] { Adam(params, AdamOptions(.1).eps(-1)); }, "Invalid epsilon value: -1"},
      {[&] { Adam(params, AdamOptions(.1).betas({1.0, .9})); },
       "Invalid beta parameter at index 0: 1"},
      {[&] { AdamW(params, AdamWOptions(.1).betas({.9, -1.0})); },
       "Invalid beta parameter at index 1: -1"},
      {[&] { RMSprop(params, RMSpropOptions(.1).alpha(-1)); }, "Invalid alpha value: -1"},
      {[&] { Adagrad(params, AdagradOptions(.1).lr_decay(-1)); }, "Invalid lr_decay value: -1"},
      {[&] { SGD(std::vector<Tensor>{}, SGDOptions(.1)); },
       "optimizer got an empty parameter list"},
      {[&] { SGD({p * 2}, SGDOptions(.1)); }, "can't optimize a non-leaf Tensor"},
      {[&] { SGD(std::vector<OptimizerParamGroup>{{params}, {params}}, SGDOptions(.1)); },
       "some parameters appear in more than one parameter group"},
  };
  for (const WrongRow& row : rows) {
    const std::string message = error_of(row.make);
    INFO("expected: " << row.words << ", got: " << message);
    CHECK(message.find(row.words) != std::string::npos);
  }
}

TEST_CASE("a gradient that does not fit is refused") {
  Tensor p = leaf({2});
  p.mutable_grad() = ones({3}, kDouble);
  SGD optimizer({p}, SGDOptions(.1));
  CHECK(error_of([&] { optimizer.step(); }).find("has a gradient of shape [3]") !=
        std::string::npos);
  CHECK(near(p, {1, 1}, 0));
}

namespace {

// An optimizer of the program's own, written as for LibTorch.
struct SignOptions : OptimizerCloneableOptions<SignOptions> {
  TAPER_ARG(double, size) = .5;
};
class SignDescent : public Optimizer {
 public:
  explicit SignDescent(std::vector<Tensor> params)
      : Optimizer(std::move(params), std::make_unique<SignOptions>()) {}
  Tensor step(LossClosure = nullptr) override {
    const NoGradGuard quiet;
    for (OptimizerParamGroup& group : param_groups_) {
      const double size = static_cast<SignOptions&>(group.options()).size();
      for (Tensor& p : group.params()) {
        if (p.grad().defined()) p.sub_(p.grad().sign(), size);
      }
    }
    return {};
  }
};

}  // namespace

TEST_CASE("an optimizer of the program's own") {
  Tensor p = leaf({2});
  p.mutable_grad() = make({3, -3}, {2}, kDouble);
  SignDescent optimizer({p});
  optimizer.step();
  CHECK(near(p, {.5, 1.5}, 0));
  CHECK_FALSE(error_of([&] { optimizer.param_groups()[0].options().set_lr(1); }).empty());
  serialize::OutputArchive archive;
  CHECK_FALSE(error_of([&] { optimizer.save(archive); }).empty());
}
