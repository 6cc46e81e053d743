#include "support/rows.h"
#include "taper/nn/modules/linear.h"
#include "taper/optim/optim.h"

// An optimizer's own tensors when they are not as it made them: parameters were converted or
// replaced in between, or a user set them.

using namespace taper;
using namespace support;
using namespace taper::optim;

namespace {

/// Calls body(create) for each optimizer, with all the state that it can have.
template <class Body>
void for_each_optimizer(const Body& body) {
  const auto with = [&](const char* name, auto create) {
    INFO(name);
    body(create);
  };
  using Parameters = std::vector<Tensor>;
  with("SGD", [](Parameters p) {
    return std::unique_ptr<Optimizer>(new SGD(std::move(p), SGDOptions(.1).momentum(.9)));
  });
  with("Adam", [](Parameters p) {
    return std::unique_ptr<Optimizer>(new Adam(std::move(p), AdamOptions(.1).amsgrad(true)));
  });
  with("AdamW", [](Parameters p) {
    return std::unique_ptr<Optimizer>(new AdamW(std::move(p), AdamWOptions(.1)));
  });
  with("RMSprop", [](Parameters p) {
    return std::unique_ptr<Optimizer>(
        new RMSprop(std::move(p), RMSpropOptions(.1).momentum(.9).centered(true)));
  });
  with("Adagrad", [](Parameters p) {
    return std::unique_ptr<Optimizer>(new Adagrad(std::move(p), AdagradOptions(.1).lr_decay(.1)));
  });
}

Tensor leaf(IntArrayRef sizes) { return ones(sizes, kDouble).requires_grad_(true); }

}  // namespace

TEST_CASE("an optimizer goes on after its module was converted") {
  for_each_optimizer([](const auto& create) {
    const auto trained = [&](ScalarType first, ScalarType second) {
      manual_seed(3);
      nn::Linear model(100, 30);
      model->to(first);
      const auto optimizer = create(model->parameters());
      for (const ScalarType dtype : {first, second, second}) {
        model->to(dtype);
        optimizer->zero_grad();
        model(ones({2, 100}, dtype) * 0.1).square().sum().backward();
        optimizer->step();
      }
      return model->weight.detach().to(kDouble);
    };
    const Tensor expected = trained(kDouble, kDouble);
    CHECK((trained(kFloat, kDouble) - expected).abs().max().item().toDouble() < 1e-4);
    CHECK((trained(kDouble, kFloat) - expected).abs().max().item().toDouble() < 1e-4);
    CHECK((trained(kFloat, kBFloat16) - expected).abs().max().item().toDouble() < 0.05);
  });
}

TEST_CASE("an optimizer refuses state of another shape, and has counted no step") {
  for_each_optimizer([](const auto& create) {
    Tensor p = leaf({4}), fresh = leaf({4});
    const auto optimizer = create({p}), other = create({fresh});
    p.mutable_grad() = ones({4}, kDouble);
    optimizer->step();
    const std::vector<double> before = values(p);
    p.set_data(ones({5000}, kDouble));
    p.mutable_grad() = ones({5000}, kDouble);
    const std::string message = error_of([&] { optimizer->step(); });
    INFO(message);
    CHECK(message.find("a parameter of shape [5000]") != std::string::npos);
    CHECK(message.find("has a state of shape [4]") != std::string::npos);
    CHECK(near(p, std::vector<double>(5000, 1), 0));

    // Back at its shape, it steps like one that met no such thing.
    p.set_data(make(before, {4}, kDouble));
    for (Tensor* stepped : {&p, &fresh}) stepped->mutable_grad() = ones({4}, kDouble);
    optimizer->step();
    other->step();
    other->step();
    CHECK(near(p, values(fresh), 1e-15));
  });
}

TEST_CASE("a gradient that does not fit leaves all parameters and counts alone") {
  for_each_optimizer([](const auto& create) {
    Tensor p = leaf({2}), q = leaf({3}), fresh = leaf({2});
    const auto optimizer = create({p, q}), other = create({fresh});
    p.mutable_grad() = ones({2}, kDouble);
    q.mutable_grad() = ones({4}, kDouble);
    CHECK(error_of([&] { optimizer->step(); }).find("has a gradient of shape [4]") !=
          std::string::npos);
    CHECK(near(p, {1, 1}, 0));
    q.mutable_grad() = Tensor();
    fresh.mutable_grad() = ones({2}, kDouble);
    optimizer->step();
    other->step();
    CHECK(near(p, values(fresh), 0));
  });
}

TEST_CASE("state that is not contiguous is read in its own order") {
  const auto stepped = [](const Tensor& sum) {
    Tensor p = leaf({2, 3});
    p.mutable_grad() = ones({2, 3}, kDouble);
    Adagrad optimizer({p}, AdagradOptions(.1));
    auto state = std::make_unique<AdagradParamState>();
    state->sum(sum);
    optimizer.state()[p.unsafe_impl()] = std::move(state);
    optimizer.step();
    return values(p);
  };
  const Tensor turned = arange(6, kDouble).view({3, 2}).t();
  CHECK(stepped(turned) == stepped(turned.contiguous()));
}
