// A convolutional network on images in MNIST's format, in LibTorch's own spelling: the same file
// compiles against LibTorch and against Taper (link Taper::torch), and with the same seed both
// print the same losses.
//
//     cnn [--data DIR] [--steps N] [--epochs N] [--batch N] [--lr X] [--dropout P] [--seed N]
//         [--device cpu|cuda|cuda:N]
//
// Without --device it runs on CUDA where there is such a device.
// Without --data it trains on pictures of its own making: bars, crosses and frames, with noise.

#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace F = torch::nn::functional;

struct CnnImpl : torch::nn::Module {
  explicit CnnImpl(double p)
      : conv1(torch::nn::Conv2dOptions(1, 32, 3).padding(1)),
        conv2(torch::nn::Conv2dOptions(32, 64, 3).padding(1)),
        dropout(p),
        fc1(64 * 7 * 7, 256),
        fc2(256, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("dropout", dropout);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);  // 28 x 28 -> 14 x 14
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);  // -> 7 x 7
    x = torch::relu(fc1(x.flatten(1)));
    return fc2(dropout(x));
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout dropout;
  torch::nn::Linear fc1, fc2;
};
TORCH_MODULE(Cnn);

// Ten classes of 28 x 28 pictures that a small network tells apart. Picture i is always the same.
class Shapes : public torch::data::datasets::Dataset<Shapes> {
 public:
  explicit Shapes(size_t size) : size_(size) {}

  torch::data::Example<> get(size_t index) override {
    uint32_t state = static_cast<uint32_t>(index) * 2654435761u + 12345u;
    const auto draw = [&state](uint32_t n) {  // one of 0 .. n-1
      state = state * 1664525u + 1013904223u;
      return (state >> 16) % n;
    };
    const int64_t label = static_cast<int64_t>(index % 10);
    torch::Tensor image = torch::zeros({1, 28, 28});
    auto pixels = image.accessor<float, 3>();
    const int64_t left = 2 + draw(8), top = 2 + draw(8), side = 10 + draw(6);
    for (int64_t i = 0; i < side; ++i) {
      for (int64_t j = 0; j < side; ++j) {
        const bool on_edge = i == 0 || j == 0 || i == side - 1 || j == side - 1;
        const bool drawn[10] = {i == side / 2,
                                j == side / 2,
                                i == j,
                                i + j == side - 1,
                                on_edge,
                                i == side / 2 || j == side / 2,
                                i == j || i + j + 1 == side,
                                i % 3 == 0,
                                j % 3 == 0,
                                (i + j) % 4 == 0};
        if (drawn[label]) pixels[0][top + i][left + j] = 1.0f;
      }
    }
    for (int64_t i = 0; i < 28; ++i) {
      for (int64_t j = 0; j < 28; ++j) pixels[0][i][j] += 0.01f * static_cast<float>(draw(40));
    }
    return {image, torch::tensor(label)};
  }
  torch::optional<size_t> size() const override { return size_; }

 private:
  size_t size_;
};

struct Options {
  std::map<std::string, std::string> values{
      {"--data", ""},    {"--steps", "0"},     {"--epochs", "1"}, {"--batch", "64"},
      {"--lr", "0.001"}, {"--dropout", "0.5"}, {"--seed", "1"},   {"--device", "auto"}};

  Options(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      auto found = values.find(argv[i]);
      TORCH_CHECK(found != values.end() && i + 1 < argc, "unknown or incomplete option: ", argv[i]);
      found->second = argv[i + 1];
    }
  }
  const std::string& text(const char* name) const { return values.at(name); }
  double number(const char* name) const { return std::stod(values.at(name)); }
  torch::Device device() const {
    if (text("--device") != "auto") return torch::Device(text("--device"));
    return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  }
};

template <class Loader>
void train(Cnn& model, Loader& loader, torch::optim::Optimizer& optimizer, torch::Device device,
           int64_t epochs, int64_t max_steps) {
  int64_t step = 0;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    model->train();
    double total = 0;
    int64_t correct = 0, seen = 0;
    for (auto& batch : loader) {
      auto images = batch.data.to(device);
      auto labels = batch.target.to(device);
      optimizer.zero_grad();
      auto output = model(images);
      auto loss = F::cross_entropy(output, labels);
      loss.backward();
      optimizer.step();

      total += loss.template item<double>() * static_cast<double>(images.size(0));
      correct += output.argmax(1).eq(labels).sum().template item<int64_t>();
      seen += images.size(0);
      if (++step <= 10 || step % 50 == 0) {
        std::printf("step %4lld  loss %.6f\n", static_cast<long long>(step),
                    loss.template item<double>());
      }
      if (step == max_steps) break;
    }
    std::printf("epoch %lld  mean loss %.6f  accuracy %.4f\n", static_cast<long long>(epoch),
                total / static_cast<double>(seen),
                static_cast<double>(correct) / static_cast<double>(seen));
    if (max_steps > 0 && step >= max_steps) return;
  }
}

int main(int argc, char** argv) try {
  const Options options(argc, argv);
  torch::manual_seed(static_cast<uint64_t>(options.number("--seed")));
  const torch::Device device = options.device();

  Cnn model(options.number("--dropout"));
  model->to(device);
  std::cout << model << std::endl;
  torch::optim::Adam optimizer(model->parameters(),
                               torch::optim::AdamOptions(options.number("--lr")));

  const auto batch = static_cast<size_t>(options.number("--batch"));
  const auto epochs = static_cast<int64_t>(options.number("--epochs"));
  const auto steps = static_cast<int64_t>(options.number("--steps"));
  if (options.text("--data").empty()) {
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        Shapes(4096)
            .map(torch::data::transforms::Normalize<>(0.2, 0.3))
            .map(torch::data::transforms::Stack<>()),
        batch);
    train(model, *loader, optimizer, device, epochs, steps);
  } else {
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        torch::data::datasets::MNIST(options.text("--data"))
            .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
            .map(torch::data::transforms::Stack<>()),
        batch);
    train(model, *loader, optimizer, device, epochs, steps);
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
