#include "support/rows.h"
#include "taper/nn/nn.h"

using namespace taper;
using namespace support;

namespace {

nn::Linear constant_linear(int64_t in, int64_t out, double weight) {
  nn::Linear linear(nn::LinearOptions(in, out).bias(false));
  nn::init::constant_(linear->weight, weight);
  return linear;
}

using Pair = std::tuple<Tensor, Tensor>;
using LSTMOut = std::tuple<Tensor, Pair>;

struct SumAndDifferenceImpl : nn::Module {
  Pair forward(const Tensor& a, const Tensor& b) { return {a + b, a - b}; }
};
TAPER_MODULE(SumAndDifference);

struct FirstImpl : nn::Module {
  Tensor forward(const Pair& pair) { return std::get<0>(pair); }
};
TAPER_MODULE(First);

}  // namespace

TEST_CASE("Sequential takes modules in every form") {
  nn::Sequential model(constant_linear(2, 2, 1), nn::ReLUImpl(), std::make_shared<nn::TanhImpl>());
  model->push_back(nn::Identity());
  model->push_back("named", nn::Flatten());
  model->push_back(nn::AnyModule(nn::Sigmoid()));
  model->push_back(nn::NamedAnyModule("last", nn::Functional(square)));
  CHECK(model->size() == 7);
  std::vector<std::string> names;
  for (const auto& child : model->named_children()) names.push_back(child.key());
  CHECK(names == std::vector<std::string>{"0", "1", "2", "3", "named", "5", "last"});
  const double expected = std::pow(1 / (1 + std::exp(-std::tanh(3.))), 2);
  CHECK(near(model(tensor({{1., 2.}})), {expected, expected}));
  CHECK(near(model->forward(tensor({{1., 2.}})), {expected, expected}));
}

TEST_CASE("Sequential with names") {
  nn::Sequential model({{"fc", constant_linear(1, 2, 3)}, {"act", nn::ReLU()}});
  CHECK(model->named_parameters()[0].key() == "fc.weight");
  CHECK(near(model->forward(ones({1, 1})), {3, 3}));
  CHECK(error_of([&] { model->push_back("fc", nn::ReLU()); }) == "Submodule 'fc' already defined");
  CHECK(model->size() == 2);
}

TEST_CASE("Sequential: access, iteration, extension") {
  nn::Sequential model(nn::Linear(1, 2), nn::ReLU());
  CHECK(model->at<nn::LinearImpl>(0).options.out_features() == 2);
  CHECK(model->ptr<nn::LinearImpl>(0).get() == model->ptr(0).get());
  CHECK(model[1]->as<nn::ReLU>() != nullptr);
  int count = 0;
  for (const nn::AnyModule& module : *model) count += module.ptr() != nullptr;
  CHECK(count == 2);
  model->extend(std::vector<nn::Linear>{nn::Linear(2, 2), nn::Linear(2, 1)});
  const nn::Sequential other{nn::Tanh()};
  model->extend(*other);
  CHECK(model->size() == 5);
  CHECK(model[4].get() == other->ptr(0).get());
  CHECK(error_of([&] { model->at<nn::LinearImpl>(5); }) == "Index out of range");
  CHECK(error_of([&] { model->at<nn::ReLUImpl>(0); }) ==
        "Attempted to cast module of type taper::nn::LinearImpl to type taper::nn::ReLUImpl");
  CHECK(error_of([&] { model[9]; }) == "Index out of range");
}

TEST_CASE("Sequential passes on whatever its modules return") {
  nn::Sequential model{SumAndDifference()};
  const auto [sum, difference] = model->forward<Pair>(ones({2}) * 3, ones({2}));
  CHECK(near(sum, {4, 4}));
  CHECK(near(difference, {2, 2}));
  model->push_back(First());
  CHECK(near(model->forward(ones({1}) * 3, ones({1})), {4}));
  CHECK(error_of([&] { nn::Sequential()->forward(ones({1})); }) ==
        "Cannot call forward() on an empty Sequential");
  CHECK(error_of([&] { model->forward<int>(ones({1}), ones({1})); }) ==
        "The type of the return value is taper::Tensor, but you asked for type int");
  CHECK(error_of([&] {
          nn::Sequential(nn::Linear(1, 2))->forward(1);
        }).find("to be of type taper::Tensor, but received value of type int") !=
        std::string::npos);
  CHECK(error_of([&] {
          model->forward(ones({1}));
        }).find("expects 2 argument(s), but received 1") != std::string::npos);
}

TEST_CASE("default arguments of forward may be left out in a Sequential") {
  nn::Sequential lstm(nn::LSTM(2, 3));
  const Tensor x = ones({4, 1, 2});
  const LSTMOut out = lstm->forward<LSTMOut>(x);
  CHECK(std::get<0>(out).sizes().equals({4, 1, 3}));
  const std::optional<Pair> state = std::get<1>(out);
  CHECK_FALSE(near(std::get<0>(lstm->forward<LSTMOut>(x, state)), values(std::get<0>(out))));
  nn::Sequential gru(nn::GRU(2, 3));
  CHECK(std::get<0>(gru->forward<Pair>(x)).sizes().equals({4, 1, 3}));
  CHECK(std::get<0>(gru->forward<Pair>(x, ones({1, 1, 3}))).sizes().equals({4, 1, 3}));
  nn::Sequential up(nn::ConvTranspose2d(1, 1, 2), nn::ReLU());
  CHECK(up->forward(ones({1, 1, 2, 2})).sizes().equals({1, 1, 3, 3}));
  nn::Sequential cell(nn::LSTMCell(2, 3));
  CHECK(std::get<0>(cell->forward<Pair>(ones({1, 2}))).sizes().equals({1, 3}));
}

TEST_CASE("a Sequential inside another") {
  nn::Sequential model(nn::Sequential(constant_linear(1, 1, 2), nn::Identity()),
                       constant_linear(1, 1, 5));
  CHECK(near(model(ones({1, 1})), {10}));
  CHECK(model->named_parameters()[0].key() == "0.0.weight");
  const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(model->clone());
  CHECK(near(copy->forward(ones({1, 1})), {10}));
  nn::init::constant_(copy->at<nn::LinearImpl>(1).weight, 7);
  CHECK(near(copy->forward(ones({1, 1})), {14}));
  CHECK(near(model(ones({1, 1})), {10}));
}

TEST_CASE("cloned Sequentials keep names and mode") {
  nn::Sequential model({{"fc", nn::Linear(1, 2)}, {"drop", nn::Dropout(.5)}});
  model->eval();
  const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(model->clone());
  CHECK(copy->named_parameters()[0].key() == "fc.weight");
  CHECK_FALSE(copy->is_training());
  CHECK_FALSE(copy->ptr(1)->is_training());
}

TEST_CASE("ModuleList") {
  nn::ModuleList list(nn::Linear(1, 2), nn::ReLU());
  list->push_back(nn::TanhImpl());
  list->insert(1, nn::Sigmoid());
  CHECK(list->size() == 4);
  CHECK(list[1]->as<nn::Sigmoid>());
  CHECK(list[3]->as<nn::Tanh>());
  // The names follow the positions.
  size_t i = 0;
  for (const auto& child : list->named_children()) {
    CHECK(child.key() == std::to_string(i));
    CHECK(child.value().get() == list->ptr(i++).get());
  }
  CHECK(list->at<nn::LinearImpl>(0).options.in_features() == 1);
  CHECK(list->ptr<nn::ReLUImpl>(0) == nullptr);
  const nn::ModuleList more(nn::Linear(2, 3));
  list->extend(*more);
  CHECK(list->named_parameters().size() == 4);
  CHECK(error_of([&] { list->at<nn::ReLUImpl>(0); }) ==
        "Unable to cast module[0] to taper::nn::ReLUImpl");
  CHECK(error_of([&] { list[7]; }) == "Index out of range");
  CHECK(error_of([&] { list->insert(9, nn::ReLU()); }) == "Index out of range");
  const auto copy = std::dynamic_pointer_cast<nn::ModuleListImpl>(list->clone());
  CHECK(copy->size() == 5);
  CHECK(copy->ptr(0).get() != list->ptr(0).get());
  CHECK(near(copy->at<nn::LinearImpl>(0).weight, values(list->at<nn::LinearImpl>(0).weight)));
}

TEST_CASE("ModuleDict") {
  nn::ModuleDict dict(
      nn::ModuleDictImpl::Pairs{{"fc", nn::Linear(1, 2).ptr()}, {"act", nn::ReLU().ptr()}});
  CHECK(dict->keys() == std::vector<std::string>{"fc", "act"});
  CHECK(dict->at<nn::LinearImpl>("fc").options.out_features() == 2);
  dict->update(nn::ModuleDictImpl::Pairs{{"act", nn::Tanh().ptr()}});
  CHECK(dict["act"]->as<nn::Tanh>());
  CHECK(dict->size() == 2);
  const auto copy = std::dynamic_pointer_cast<nn::ModuleDictImpl>(dict->clone());
  CHECK(copy->contains("fc"));
  CHECK(copy->parameters().size() == 2);
  CHECK(dict->pop("fc")->as<nn::Linear>());
  CHECK(dict->parameters().empty());
  CHECK(error_of([&] { dict["fc"]; }) == "Submodule 'fc' is not defined");
  CHECK(error_of([&] { dict->at<nn::ReLUImpl>("act"); }) ==
        "Unable to cast module[act] to taper::nn::ReLUImpl");
  dict->clear();
  CHECK(dict->empty());
}

TEST_CASE("ParameterList and ParameterDict") {
  nn::ParameterList list(ones({2}).requires_grad_(), zeros({3}));
  list->append(ones({1}));
  CHECK(list->size() == 3);
  CHECK(list[0].requires_grad());
  CHECK_FALSE(list[1].requires_grad());
  CHECK(near(list->at(2), {1}));
  CHECK(error_of([&] { list->at(3); }) == "Index out of range");
  *list += std::vector<Tensor>{ones({4})};
  CHECK(list->named_parameters()[3].key() == "3");
  const auto copy = std::dynamic_pointer_cast<nn::ParameterListImpl>(list->clone());
  CHECK(copy->size() == 4);
  CHECK(copy->at(0).requires_grad());
  CHECK_FALSE(copy->at(0).is_alias_of(list[0]));

  nn::ParameterDict dict;
  dict->insert("a", ones({2}).requires_grad_());
  dict->insert("b", zeros({1}));
  CHECK(dict->keys() == std::vector<std::string>{"a", "b"});
  CHECK(dict["a"].requires_grad());
  CHECK(dict->clone()->parameters().size() == 2);
  CHECK(near(dict->pop("b"), {0}));
  CHECK(error_of([&] { dict["b"]; }) == "Parameter 'b' is not defined");
  CHECK(error_of([&] { dict->insert("a", ones({1})); }) == "Parameter 'a' already defined");
}

TEST_CASE("Functional wraps functions, with further arguments bound") {
  CHECK(near(nn::Functional(relu)->forward(tensor({-1., 2.})), {0, 2}));
  CHECK(near(nn::Functional(leaky_relu, .5)->forward(tensor({-1., 2.})), {-.5, 2}));
  nn::Functional twice([](const Tensor& x) { return x * 2; });
  CHECK(near(twice(ones({1})), {2}));
  CHECK_FALSE(twice->is_serializable());
  CHECK(
      near(std::dynamic_pointer_cast<nn::FunctionalImpl>(twice->clone())->forward(ones({1})), {2}));
}
