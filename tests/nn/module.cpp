#include <sstream>

#include "support/rows.h"
#include "taper/autograd/grad_mode.h"
#include "taper/nn/nn.h"

using namespace taper;
using namespace support;

namespace {

struct BlockImpl : nn::Cloneable<BlockImpl> {
  explicit BlockImpl(int64_t size) : size(size) { reset(); }
  void reset() override {
    linear = register_module("linear", nn::Linear(size, size));
    scale = register_parameter("scale", ones({size}));
    count = register_buffer("count", zeros({}, kLong));
  }
  Tensor forward(const Tensor& x) { return linear(x) * scale; }

  int64_t size;
  nn::Linear linear{nullptr};
  Tensor scale, count;
};
TAPER_MODULE(Block);

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    first = register_module("first", Block(2));
    rest = register_module("rest", nn::Sequential(nn::ReLU(), Block(2)));
    frozen = register_parameter("frozen", zeros({1}), false);
  }
  Tensor forward(const Tensor& x) { return rest->forward(first(x)); }

  Block first{nullptr};
  nn::Sequential rest;
  Tensor frozen;
};
TAPER_MODULE(Net);

template <class Dict>
std::vector<std::string> names(const Dict& dict) {
  std::vector<std::string> out;
  for (const auto& item : dict) out.push_back(item.key());
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the tree: parameters, buffers and modules by name, in order") {
  Net net;
  CHECK(names(net->named_parameters()) == Names{"frozen", "first.scale", "first.linear.weight",
                                                "first.linear.bias", "rest.1.scale",
                                                "rest.1.linear.weight", "rest.1.linear.bias"});
  CHECK(names(net->named_parameters(false)) == Names{"frozen"});
  CHECK(names(net->named_buffers()) == Names{"first.count", "rest.1.count"});
  CHECK(names(net->named_modules()) ==
        Names{"", "first", "first.linear", "rest", "rest.0", "rest.1", "rest.1.linear"});
  CHECK(names(net->named_modules("net", false)).front() == "net.first");
  CHECK(names(net->named_children()) == Names{"first", "rest"});
  CHECK(net->modules(false).size() == 6);
  CHECK(net->children().size() == 2);
  CHECK(net->parameters().size() == 7);
  CHECK_FALSE(net->frozen.requires_grad());
  CHECK(net->named_parameters()["first.scale"].is_same(net->first->scale));
}

TEST_CASE("registration refuses bad names") {
  struct Open : nn::Module {};
  const auto open = [] {
    Open module;
    module.register_module("a", nn::Linear(1, 2));
    module.register_parameter("p", ones({1}));
    return module;
  };
  CHECK(error_of([&] { open().register_module("a", nn::ReLU()); }) ==
        "Submodule 'a' already defined");
  CHECK(error_of([&] { open().register_parameter("p", ones({1})); }) ==
        "Parameter 'p' already defined");
  CHECK(error_of([&] { open().unregister_module("b"); }) ==
        "No Module with name `b` is registered");
  CHECK(error_of([&] {
          open().register_buffer("a.b", ones({1}));
        }).find("must not contain a dot") != std::string::npos);
  CHECK(error_of([&] { open().register_parameter("", ones({1})); }).find("must not be empty") !=
        std::string::npos);
}

TEST_CASE("apply visits every module") {
  Net net;
  int linears = 0;
  net->apply([&](nn::Module& module) {
    if (auto* linear = module.as<nn::Linear>()) {
      ++linears;
      nn::init::constant_(linear->weight, 3);
    }
  });
  CHECK(linears == 2);
  CHECK(near(net->first->linear->weight, {3, 3, 3, 3}));
  Names visited;
  net->apply([&](const std::string& name, nn::Module&) { visited.push_back(name); }, "net");
  CHECK(visited.front() == "net");
  CHECK(visited.back() == "net.rest.1.linear");
}

TEST_CASE("train and eval reach every module") {
  Net net;
  net->eval();
  for (const auto& module : net->modules()) CHECK_FALSE(module->is_training());
  net->train();
  for (const auto& module : net->modules()) CHECK(module->is_training());
}

TEST_CASE("to changes values in place: handles that were taken before stay good") {
  Net net;
  const Tensor weight = net->first->linear->weight;
  net->forward(ones({1, 2})).sum().backward();
  net->to(kDouble);
  CHECK(weight.scalar_type() == kDouble);
  CHECK(weight.grad().scalar_type() == kDouble);
  CHECK(net->first->linear->weight.is_same(weight));
  CHECK(net->first->count.scalar_type() == kLong);  // only floating tensors change
  CHECK(net->forward(ones({1, 2}, kDouble)).scalar_type() == kDouble);
}

TEST_CASE("zero_grad drops gradients or fills them with zeros") {
  Net net;
  net->forward(ones({1, 2})).sum().backward();
  net->zero_grad(false);
  CHECK(near(net->first->scale.grad(), {0, 0}));
  net->zero_grad();
  CHECK_FALSE(net->first->scale.grad().defined());
}

TEST_CASE("a clone has its own copies of everything") {
  Net net;
  net->first->count.add_(5);
  const auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  REQUIRE(copy);
  CHECK(names(copy->named_parameters()) == names(net->named_parameters()));
  CHECK(copy->first->count.item<int64_t>() == 5);
  CHECK_FALSE(copy->frozen.requires_grad());
  const Tensor x = tensor({{1., -2.}});
  CHECK(near(copy->forward(x), values(net->forward(x))));
  {
    const NoGradGuard quiet;
    copy->first->scale.zero_();
  }
  CHECK(near(net->first->scale, {1, 1}));
  CHECK_FALSE(near(copy->forward(x), values(net->forward(x))));
  struct Plain : nn::Module {};
  CHECK(error_of([] { Plain().clone(); }).find("clone() has not been implemented for") == 0);
}

TEST_CASE("a state dictionary carries a model over") {
  Net from, to;
  from->first->count.add_(7);
  const auto state = from->state_dict();
  CHECK(names(state).size() == 9);
  CHECK_FALSE(state["first.scale"].requires_grad());
  const nn::IncompatibleKeys keys = to->load_state_dict(state);
  CHECK(keys.missing_keys.empty());
  CHECK(keys.unexpected_keys.empty());
  const Tensor x = tensor({{1., -2.}});
  CHECK(near(to->forward(x), values(from->forward(x))));
  CHECK(to->first->count.item<int64_t>() == 7);
  CHECK(to->first->scale.requires_grad());
}

TEST_CASE("load_state_dict reports everything that is wrong, and changes nothing") {
  Net net;
  const std::vector<double> before = values(net->first->linear->weight);
  OrderedDict<std::string, Tensor> state;
  for (const auto& item : net->state_dict()) {
    if (item.key() == "frozen" || item.key() == "first.count") continue;
    state.insert(item.key(), item.key() == "rest.1.scale" ? ones({3}) : item.value() + 1);
  }
  state.insert("extra.weight", ones({1}));
  const std::string message = error_of([&] { net->load_state_dict(state); });
  CHECK(message.find("Error(s) in loading state_dict for ") == 0);
  CHECK(message.find("\n\tsize mismatch for rest.1.scale: copying a param with shape [3] from "
                     "checkpoint, the shape in current model is [2].") != std::string::npos);
  CHECK(message.find("\n\tMissing key(s) in state_dict: \"frozen\", \"first.count\".") !=
        std::string::npos);
  CHECK(message.find("\n\tUnexpected key(s) in state_dict: \"extra.weight\".") !=
        std::string::npos);
  CHECK(near(net->first->linear->weight, before));
  // A wrong shape is refused without strict, too; missing and unexpected names are returned.
  CHECK_FALSE(error_of([&] { net->load_state_dict(state, false); }).empty());
  state["rest.1.scale"] = ones({2});
  const nn::IncompatibleKeys keys = net->load_state_dict(state, false);
  CHECK(keys.missing_keys == Names{"frozen", "first.count"});
  CHECK(keys.unexpected_keys == Names{"extra.weight"});
  CHECK_FALSE(near(net->first->linear->weight, before));
}

TEST_CASE("holders") {
  nn::Linear empty = nullptr;
  CHECK(empty.is_empty());
  CHECK_FALSE(empty);
  CHECK(error_of([&] { empty->reset(); }) == "Accessing empty ModuleHolder");
  const nn::Linear linear(2, 3);
  nn::Linear same = linear;
  CHECK(same.get() == linear.get());
  CHECK(same.ptr().get() == linear.get());
  CHECK(same(ones({1, 2})).sizes().equals({1, 3}));
  nn::Module& module = *same;
  CHECK(module.as<nn::Linear>() == linear.get());
  CHECK(module.as<nn::ReLU>() == nullptr);
}
