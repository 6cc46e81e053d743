// Programs reopen LibTorch's namespaces, alias them and open them all at once.

#include <torch/script.h>
#include <torch/torch.h>

#include "catch.h"

namespace torch {
inline Tensor twice(const Tensor& x) { return x * 2; }

namespace nn {
// A module in LibTorch's own namespace finds its neighbours by their bare names.
class TORCH_API ScaleImpl : public Cloneable<ScaleImpl> {
 public:
  explicit ScaleImpl(int64_t size) : size_(size) { reset(); }
  void reset() override { weight = register_parameter("weight", torch::ones({size_})); }
  Tensor forward(const Tensor& x) { return functional::relu(x * weight); }
  Tensor weight;

 private:
  int64_t size_;
};
TORCH_MODULE(Scale);
}  // namespace nn

namespace optim {
// Shrinks every parameter by its learning rate: an optimizer of a program's own.
struct ShrinkOptions : public OptimizerCloneableOptions<ShrinkOptions> {
  TORCH_ARG(double, lr) = 0.5;
};
class Shrink : public Optimizer {
 public:
  explicit Shrink(std::vector<Tensor> parameters)
      : Optimizer(std::move(parameters), std::make_unique<ShrinkOptions>()) {}
  Tensor step(LossClosure closure = nullptr) override {
    NoGradGuard no_grad;
    for (auto& group : param_groups_) {
      auto& options = static_cast<ShrinkOptions&>(group.options());
      for (auto& parameter : group.params()) parameter.mul_(1 - options.lr());
    }
    return closure ? closure() : Tensor();
  }
};
}  // namespace optim

namespace data::datasets {
class Counting : public Dataset<Counting> {
 public:
  Example<> get(size_t index) override {
    return {torch::full({2}, static_cast<double>(index)), torch::tensor(int64_t(index))};
  }
  torch::optional<size_t> size() const override { return 7; }
};
}  // namespace data::datasets
}  // namespace torch

namespace at {
inline int64_t rank(const Tensor& x) { return x.dim(); }
}  // namespace at

namespace c10 {
inline bool on_cpu(Device device) { return device.is_cpu(); }
}  // namespace c10

TEST_CASE("Reopened namespaces hold LibTorch's names and the program's own") {
  CHECK(torch::twice(torch::ones({2})).equal(torch::full({2}, 2.0)));
  CHECK(at::rank(at::zeros({2, 3})) == 2);
  CHECK(torch::rank(torch::zeros({2, 3})) == 2);  // torch has all of at, at all of c10
  CHECK(c10::on_cpu(torch::kCPU));

  torch::nn::Scale scale(3);
  CHECK(scale(torch::tensor({1.0, -1.0, 2.0})).equal(torch::tensor({1.0, 0.0, 2.0})));
  torch::optim::Shrink optimizer(scale->parameters());
  optimizer.step();
  CHECK(scale->weight.equal(torch::full({3}, 0.5)));
  CHECK(
      std::dynamic_pointer_cast<torch::nn::ScaleImpl>(scale->clone())->weight.equal(scale->weight));
}

namespace everything_open {
using namespace torch;
using namespace torch::nn;
using namespace torch::data;
using namespace torch::indexing;

TEST_CASE("using namespace torch, nn and data at once makes nothing ambiguous") {
  Tensor x = zeros({2, 3}, dtype(kFloat).requires_grad(true));
  nn::Linear a(3, 4);
  Linear b(4, 2);
  init::constant_(b->weight, 0.5);
  optim::SGD optimizer(a->parameters(), 0.1);
  CHECK(functional::relu(b(a(x))).sizes() == std::vector<int64_t>{2, 2});
  CHECK(x.index({Slice(0, 1), None}).sizes() == std::vector<int64_t>{1, 1, 3});

  auto loader = make_data_loader<samplers::SequentialSampler>(
      datasets::Counting().map(transforms::Stack<>()), DataLoaderOptions().batch_size(4));
  std::vector<int64_t> sizes;
  for (auto& batch : *loader) sizes.push_back(batch.data.size(0));
  CHECK(sizes == std::vector<int64_t>{4, 3});
}
}  // namespace everything_open

TEST_CASE("at, c10 and torch name the same things") {
  STATIC_REQUIRE(std::is_same_v<at::Tensor, torch::Tensor>);
  STATIC_REQUIRE(std::is_same_v<c10::ScalarType, torch::Dtype>);
  STATIC_REQUIRE(std::is_same_v<c10::optional<int>, std::optional<int>>);
  STATIC_REQUIRE(std::is_same_v<c10::OptionalArrayRef<int64_t>, c10::OptionalIntArrayRef>);
  STATIC_REQUIRE(torch::kF32 == at::kFloat);
  namespace F = torch::nn::functional;
  namespace nn = torch::nn;
  CHECK(F::softmax(torch::zeros({1, 2}), F::SoftmaxFuncOptions(1)).equal(torch::full({1, 2}, 0.5)));
  CHECK(nn::Linear(2, 3)->weight.sizes() == torch::IntArrayRef({3, 2}));
}
