// Whole programs in LibTorch's idiom, small.

#include <torch/torch.h>

#include <filesystem>
#include <sstream>
#include <type_traits>

#include "catch.h"

namespace {

using Catch::Matchers::ContainsSubstring;
using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t in, int64_t out)
      : conv(torch::nn::Conv2dOptions(in, out, 3).stride(1).padding(1).bias(false)), norm(out) {
    register_module("conv", conv);
    register_module("norm", norm);
    scale = register_parameter("scale", torch::ones({1}));
    register_buffer("calls", torch::zeros({1}, torch::kLong));
  }
  torch::Tensor forward(torch::Tensor x) {
    named_buffers()["calls"].add_(1);
    return torch::relu(norm(conv(x))) * scale;
  }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::Tensor scale;
};
TORCH_MODULE(Block);

class NetImpl : public torch::nn::Module {
 public:
  explicit NetImpl(int64_t classes) {
    features = register_module("features", torch::nn::Sequential(Block(1, 4), Block(4, 4)));
    features->push_back("pool",
                        torch::nn::AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({2, 2})));
    heads = register_module("heads", torch::nn::ModuleList());
    heads->push_back(torch::nn::Linear(16, 8));
    heads->push_back(torch::nn::Linear(torch::nn::LinearOptions(8, classes).bias(true)));
    apply([](torch::nn::Module& module) {
      if (auto* linear = module.as<torch::nn::Linear>()) {
        torch::nn::init::xavier_uniform_(linear->weight);
        torch::nn::init::constant_(linear->bias, 0);
      }
    });
  }
  torch::Tensor forward(torch::Tensor x) {
    x = features->forward(x).view({x.size(0), -1});
    for (const auto& head : *heads) x = head->as<torch::nn::Linear>()->forward(x);
    return torch::log_softmax(x, /*dim=*/1);
  }

 private:
  torch::nn::Sequential features{nullptr};
  torch::nn::ModuleList heads{nullptr};
};
TORCH_MODULE(Net);

struct ScaledImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x, double factor = 3, bool negate = true) {
    return negate ? -x * factor : x * factor;
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(3.0)}, {2, torch::nn::AnyValue(true)})
};

struct Stripes : torch::data::datasets::Dataset<Stripes> {
  torch::data::Example<> get(size_t index) override {
    auto image = torch::zeros({1, 6, 6});
    const int64_t label = static_cast<int64_t>(index % 2);
    if (label == 0) {
      image.index_put_({Ellipsis, Slice(None, None, 2)}, 1.0);
    } else {
      image.index_put_({0, Slice(None, None, 2)}, 1.0);
    }
    return {image, torch::tensor(label, torch::kInt64)};
  }
  torch::optional<size_t> size() const override { return 32; }
};

std::filesystem::path temporary(const char* name) {
  return std::filesystem::temp_directory_path() / (std::string("taper_compat_") + name);
}

}  // namespace

TEST_CASE("A classifier is trained, saved, loaded and asked, as LibTorch programs do it") {
  torch::manual_seed(3);
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net net(2);
  net->to(device);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Stripes()
          .map(torch::data::transforms::Normalize<>(0.5, 0.5))
          .map(torch::data::transforms::Stack<>()),
      torch::data::DataLoaderOptions().batch_size(8).workers(2));
  torch::optim::Adam optimizer(net->parameters(),
                               torch::optim::AdamOptions(1e-2).betas({0.9, 0.99}));

  double first = 0, last = 0;
  for (int epoch = 0; epoch < 6; ++epoch) {
    net->train();
    for (torch::data::Example<>& batch : *loader) {
      auto data = batch.data.to(device), target = batch.target.to(device);
      optimizer.zero_grad();
      auto loss = torch::nll_loss(net(data), target);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net->parameters(), 5.0);
      optimizer.step();
      last = loss.item<double>();
      if (first == 0) first = last;
    }
    for (auto& group : optimizer.param_groups()) {
      auto& options = static_cast<torch::optim::AdamOptions&>(group.options());
      options.lr(options.lr() * 0.9);
    }
  }
  CHECK(last < first * 0.5);

  const auto file = temporary("net.pt"), optimizer_file = temporary("adam.pt");
  torch::save(net, file.string());
  torch::save(optimizer, optimizer_file.string());
  Net other(2);
  torch::load(other, file.string());
  torch::optim::Adam again(other->parameters(), 1e-2);
  torch::load(again, optimizer_file.string());
  torch::NoGradGuard no_grad;
  net->eval();
  other->eval();
  other->to(device);
  const auto input = torch::stack({Stripes().get(0).data, Stripes().get(1).data}).to(device);
  CHECK(torch::equal(net(input), other(input)));
  auto [values, classes] = net(input).max(1);
  CHECK(classes.cpu().equal(torch::tensor({0, 1})));
  std::filesystem::remove(file);
  std::filesystem::remove(optimizer_file);
}

TEST_CASE("Parameters and buffers are listed under LibTorch's names") {
  Net net(3);
  std::vector<std::string> names;
  for (const auto& item : net->named_parameters()) names.push_back(item.key());
  CHECK(names == std::vector<std::string>{
                     "features.0.scale", "features.0.conv.weight", "features.0.norm.weight",
                     "features.0.norm.bias", "features.1.scale", "features.1.conv.weight",
                     "features.1.norm.weight", "features.1.norm.bias", "heads.0.weight",
                     "heads.0.bias", "heads.1.weight", "heads.1.bias"});
  CHECK(net->named_buffers().contains("features.0.calls"));
  for (auto& item : net->named_parameters()) item.value().set_requires_grad(false);
  CHECK_FALSE(net->parameters()[0].requires_grad());
}

TEST_CASE("Memory of the program's own becomes a tensor, and goes back") {
  std::vector<uint8_t> pixels{0, 51, 102, 153, 204, 255};
  auto image = torch::from_blob(pixels.data(), {1, 2, 3}, torch::kByte).clone();
  image = image.toType(torch::kFloat).div_(255).permute({0, 2, 1}).contiguous();
  CHECK(image.accessor<float, 3>()[0][1][1] == Catch::Approx(0.8));
  std::vector<float> back(image.data_ptr<float>(), image.data_ptr<float>() + image.numel());
  CHECK(back.size() == 6);
  image[0][0][0] = 7;
  CHECK(image.index({0, 0, 0}).item<float>() == 7);
  CHECK(image.sizes().vec() == std::vector<int64_t>{1, 3, 2});
}

TEST_CASE("An accessor that carries sizes and strides reads and writes as the tensor does") {
  auto x = torch::arange(24, torch::kFloat).view({4, 6}).t().slice(0, 1, 6, 2);  // strides 2, 6
  const auto wide = x.packed_accessor64<float, 2>();
  auto narrow = x.packed_accessor32<float, 2, torch::RestrictPtrTraits>();
  static_assert(std::is_same_v<decltype(narrow.size(0)), int32_t>);
  REQUIRE((wide.size(0) == 3 && wide.size(1) == 4 && wide.stride(0) == 2 && wide.stride(1) == 6));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      CHECK(wide[i][j] == x[i][j].item<float>());
      narrow[i][j] = static_cast<float>(10 * i + j);
    }
  }
  CHECK(x[2][3].item<float>() == 23);
  CHECK_THROWS_WITH((x.packed_accessor32<float, 3>()),
                    "packed_accessor32: expected a tensor of 3 dimensions, but this one has 2");
  CHECK_THROWS_WITH((x.packed_accessor64<double, 2>()),
                    ContainsSubstring("expected scalar type Double"));
  const auto endless = torch::zeros({1}).expand({int64_t{1} << 31});
  CHECK_THROWS_WITH((endless.packed_accessor32<float, 1>()),
                    ContainsSubstring("Use packed_accessor64"));
  CHECK(endless.packed_accessor64<float, 1>()[(int64_t{1} << 31) - 1] == 0);
}

TEST_CASE("A device is given by its text, or by its type and number") {
  CHECK(torch::ones({2}, "cpu").is_cpu());
  CHECK(torch::ones({2}, std::string("cpu")).is_cpu());
  CHECK(torch::ones({2}, {torch::kCPU, 0}).is_cpu());
  CHECK(torch::ones({2}).to({torch::kCPU, 0}).is_cpu());
  CHECK(torch::ones({2}).to("cpu").is_cpu());
  CHECK(torch::ones({2}).to("cpu", torch::kDouble).dtype() == torch::kDouble);
  CHECK_THROWS_WITH(torch::ones({2}, "tpu"),
                    ContainsSubstring("device type at start of device string: tpu"));
  const auto x = torch::ones({2});
  CHECK(x.unsafeGetTensorImpl() == torch::Tensor(x).unsafeGetTensorImpl());
  CHECK(torch::Tensor().unsafeGetTensorImpl() == nullptr);
}

TEST_CASE("A function of the program's own has the backward it says") {
  struct Clip : torch::autograd::Function<Clip> {
    static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x,
                                 double limit) {
      ctx->save_for_backward({x});
      ctx->saved_data["limit"] = limit;
      return x.clamp(-limit, limit);
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::tensor_list grads) {
      const auto x = ctx->get_saved_variables()[0];
      const double limit = ctx->saved_data["limit"].toDouble();
      return {grads[0] * (x.abs() < limit).to(grads[0].dtype()) * 10, torch::Tensor()};
    }
  };
  auto x = torch::tensor({-2.0, 0.5}, torch::requires_grad());
  Clip::apply(x, 1.0).sum().backward();
  CHECK(x.grad().equal(torch::tensor({0.0, 10.0})));
}

TEST_CASE("Everything that programs print can be printed") {
  std::ostringstream out;
  out << torch::ones({2}) << torch::ones({2}).sizes() << torch::Device("cpu") << torch::kFloat
      << torch::ones({1}).dtype() << torch::Scalar(3) << torch::TensorOptions() << Net(2);
  CHECK_FALSE(out.str().empty());
}

TEST_CASE("FORWARD_HAS_DEFAULT_ARGS gives a Sequential the arguments that forward leaves out") {
  torch::nn::Sequential net(std::make_shared<ScaledImpl>());
  CHECK(net->forward(torch::ones({2})).equal(torch::full({2}, -3.0)));
  CHECK(net->forward(torch::ones({2}), 2.0).equal(torch::full({2}, -2.0)));
  CHECK(net->forward(torch::ones({2}), 2.0, false).equal(torch::full({2}, 2.0)));
}
