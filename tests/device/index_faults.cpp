#include <cstdlib>

#include "device.h"
#include "support/tensors.h"
#include "taper/autograd/autograd.h"
#include "taper/nn/nn.h"
#include "taper/optim/optim.h"

// An index or a label out of range: a kernel finds it, the next call that waits throws it with the
// name of the op. With CUDA_LAUNCH_BLOCKING=1, for which these tests run a second time, the op
// itself throws.

using namespace device_tests;
namespace F = taper::nn::functional;

namespace {

bool launches_block() {
  const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
  return value && *value == '1';
}

/// The error that `call` leads to, at the call or when something waits, as it should be.
std::string fault_of(const std::function<void()>& call) {
  if (launches_block()) return error_of(call);
  const std::string at_once = error_of(call);
  CHECK(at_once == "");
  std::string later;
  try {
    cuda::synchronize();
  } catch (const IndexError& error) {
    later = error.what();
  }
  contains(later, "found on cuda:0, reported by cuda::synchronize");
  return later;
}

Tensor indices(std::vector<int64_t> values) { return tensor(values).to(kCUDA); }

}  // namespace

TEST_CASE("an index out of range is reported with the name of the op", "[index]") {
  const Tensor x = arange(12, on_cuda()).reshape({4, 3});
  const Tensor rows = ones({2, 3}, on_cuda());
  const Tensor scores = ones({2, 3}, on_cuda());
  const Tensor weight = ones({3}, on_cuda());
  const Tensor at = indices({1, 9}), label = indices({2, 3});
  struct Case {
    const char* message;
    std::function<void()> call;
  };
  const Case cases[] = {
      {"embedding(): index 9 is out of bounds", [&] { embedding(x, at); }},
      {"index(): index 9 is out of bounds", [&] { x.index({at}); }},
      {"index(): index -5 is out of bounds", [&] { x.index({indices({-4, -5})}); }},
      {"index(): index 9 is out of bounds", [&] { x.index({at, indices({0, 0})}); }},
      {"index_put_(): index 9 is out of bounds", [&] { x.clone().index_put_({at}, rows); }},
      {"index_put_(): index 9 is out of bounds", [&] { x.clone().index_put_({at}, rows, true); }},
      {"index_select(): index 9 is out of bounds", [&] { x.index_select(0, at); }},
      {"index_add_(): index 9 is out of bounds", [&] { x.clone().index_add_(0, at, rows); }},
      {"index_copy_(): index 9 is out of bounds", [&] { x.clone().index_copy_(0, at, rows); }},
      {"index_fill_(): index 9 is out of bounds", [&] { x.clone().index_fill_(0, at, 7); }},
      {"take(): index 12 is out of bounds", [&] { x.take(indices({11, 12})); }},
      {"gather(): index 9 is out of bounds", [&] { x.gather(1, at.unsqueeze(1)); }},
      {"take_along_dim(): index 9 is out of bounds",
       [&] { take_along_dim(x, at.unsqueeze(1), 0); }},
      {"scatter(): index 9 is out of bounds", [&] { x.scatter(1, at.unsqueeze(1), 7); }},
      {"scatter_add(): index 9 is out of bounds", [&] { x.scatter_add(1, at.unsqueeze(1), rows); }},
      {"one_hot: Class value 9 is out of bounds", [&] { one_hot(at, 3); }},
      {"cross_entropy_loss: Target 3 is out of bounds", [&] { F::cross_entropy(scores, label); }},
      {"nll_loss: Target 3 is out of bounds",
       [&] { F::cross_entropy(scores, label, F::CrossEntropyFuncOptions().weight(weight)); }},
      {"nll_loss: Target 3 is out of bounds", [&] { F::nll_loss(scores, label); }},
  };
  for (const Case& example : cases) {
    INFO(example.message);
    contains(fault_of(example.call), example.message);
    cuda::synchronize();  // reported once
    CHECK(x.sum().item<float>() == 66);
  }
}

TEST_CASE("a probability out of range is reported with the name of the op", "[index]") {
  const auto call = [] { full({3}, 1.5, on_cuda()).bernoulli(); };
  if (launches_block()) {
    contains(error_of(call), "bernoulli_: a probability outside [0, 1]");
  } else {
    CHECK(error_of(call) == "");
    CHECK_THROWS_AS(cuda::synchronize(), ValueError);
    call();
    contains(error_of([] { cuda::synchronize(); }),
             "bernoulli: a probability outside [0, 1] (cuda:0, reported by cuda::synchronize)");
  }
  cuda::synchronize();
}

TEST_CASE("whatever waits reports an index out of range", "[index]") {
  if (launches_block()) return;
  const Tensor x = arange(4, on_cuda());
  const auto fault = [&] { x.index_select(0, indices({7})); };
  const std::string message = "index_select(): index 7 is out of bounds for dimension with size 4";
  fault();
  contains(error_of([&] { x.sum().item(); }), message);
  fault();
  contains(error_of([&] { x.cpu(); }), message);
  fault();
  contains(error_of([&] { cuda::current_stream().synchronize(); }), message);
  fault();
  cuda::Event event;
  event.record();
  contains(error_of([&] { event.synchronize(); }), message);
  fault();
  contains(error_of([&] { x.nonzero(); }), message);
  cuda::synchronize();
}

TEST_CASE("an optimizer leaves the parameters alone after an index out of range", "[index]") {
  manual_seed(1);
  nn::Embedding embed(5, 4);
  nn::Linear head(4, 3);
  embed->to(Device(kCUDA));
  head->to(Device(kCUDA));
  std::vector<Tensor> parameters = embed->parameters();
  for (const Tensor& p : head->parameters()) parameters.push_back(p);
  const auto values = [&] {
    std::vector<std::vector<double>> all;
    for (const Tensor& p : parameters) all.push_back(support::values(p.detach().cpu()));
    return all;
  };
  const auto check = [&](optim::Optimizer& optimizer) {
    const auto step = [&](std::vector<int64_t> words, std::vector<int64_t> labels) {
      optimizer.zero_grad();
      F::cross_entropy(head(embed(indices(words))), indices(labels)).backward();
      optimizer.step();
    };
    step({0, 1}, {0, 1});
    const auto before = values();
    contains(fault_of([&] { step({0, 1}, {0, 3}); }), "cross_entropy_loss: Target 3");
    CHECK(values() == before);
    contains(fault_of([&] { step({0, 5}, {0, 1}); }), "embedding(): index 5");
    CHECK(values() == before);
    step({0, 1}, {0, 1});  // and goes on
    CHECK(values() != before);
  };
  optim::SGD sgd(parameters, optim::SGDOptions(0.1).momentum(0.9));
  check(sgd);
  optim::Adam adam(parameters, optim::AdamOptions(0.1));
  check(adam);
  optim::AdamW adamw(parameters, optim::AdamWOptions(0.1));
  check(adamw);
  optim::RMSprop rmsprop(parameters, optim::RMSpropOptions(0.1).momentum(0.9).centered(true));
  check(rmsprop);
  optim::Adagrad adagrad(parameters, optim::AdagradOptions(0.1));
  check(adagrad);
}
