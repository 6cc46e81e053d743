// A GRU that tells sequences apart, in LibTorch's own spelling: the same file compiles against
// LibTorch and against Taper (link Taper::torch), and with the same seed both print the same
// losses.
//
//     gru_classifier [--data DIR] [--steps N] [--batch N] [--lr X] [--dropout P] [--seed N]
//                    [--device cpu|cuda|cuda:N]
//
// Without --device it runs on CUDA where there is such a device.
// Without --data it learns three kinds of waves, each of random phase and pitch, with noise. With a
// folder in MNIST's format it reads every picture row by row.

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <utility>

struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl(int64_t features, int64_t classes, double dropout) {
    gru = register_module(
        "gru",
        torch::nn::GRU(
            torch::nn::GRUOptions(features, 32).num_layers(2).batch_first(true).dropout(dropout)));
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({32})));
    head = register_module("head", torch::nn::Linear(32, classes));
  }

  // [batch, time, features] -> [batch, classes]
  torch::Tensor forward(const torch::Tensor& sequence) {
    torch::Tensor output, hidden;
    std::tie(output, hidden) = gru->forward(sequence);
    return head(norm(output.index({torch::indexing::Slice(), -1})));  // after the last time step
  }

  torch::nn::GRU gru{nullptr};
  torch::nn::LayerNorm norm{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Classifier);

// A batch of sequences and their labels.
using Batch = std::pair<torch::Tensor, torch::Tensor>;

// Sine, square and sawtooth waves: [count, 24, 1].
Batch make_waves(int64_t count) {
  const int64_t time = 24;
  auto labels = torch::randint(0, 3, {count}, torch::kLong);
  auto phase = torch::rand({count, 1});
  auto pitch = 1.5 + torch::rand({count, 1});
  auto position = torch::arange(time, torch::kFloat).unsqueeze(0) / time * pitch + phase;
  auto cycle = position - position.floor();  // in [0, 1)
  auto sine = torch::sin(cycle * (2 * M_PI));
  auto square = torch::where(cycle < 0.5, torch::ones_like(cycle), -torch::ones_like(cycle));
  auto saw = cycle * 2 - 1;
  auto kinds = torch::stack({sine, square, saw}, 1);  // [count, 3, time]
  auto chosen = kinds.gather(1, labels.view({-1, 1, 1}).expand({count, 1, time})).squeeze(1);
  chosen += (torch::rand({count, time}) - 0.5) * 0.4;
  return {chosen.unsqueeze(-1), labels};
}

// Pictures as sequences of their rows: [count, 28, 28].
Batch read_pictures(const std::string& folder, int64_t count) {
  torch::data::datasets::MNIST data(folder);
  auto chosen =
      torch::randperm(static_cast<int64_t>(data.size().value()), torch::kLong).slice(0, 0, count);
  return {data.images().index_select(0, chosen).squeeze(1), data.targets().index_select(0, chosen)};
}

int main(int argc, char** argv) try {
  std::map<std::string, std::string> options{
      {"--data", ""},     {"--steps", "200"}, {"--batch", "32"},   {"--lr", "0.005"},
      {"--dropout", "0"}, {"--seed", "1"},    {"--device", "auto"}};
  for (int i = 1; i < argc; i += 2) {
    auto found = options.find(argv[i]);
    TORCH_CHECK(found != options.end() && i + 1 < argc, "unknown or incomplete option: ", argv[i]);
    found->second = argv[i + 1];
  }
  torch::manual_seed(std::stoull(options["--seed"]));
  const int64_t steps = std::stoll(options["--steps"]), batch = std::stoll(options["--batch"]);
  const bool pictures = !options["--data"].empty();
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  if (options["--device"] != "auto") device = torch::Device(options["--device"]);

  // Numbers are drawn on the CPU: with one seed they are the same whatever the device.
  auto [sequences, labels] = pictures ? read_pictures(options["--data"], 8192) : make_waves(4096);
  sequences = sequences.to(device);
  labels = labels.to(device);
  Classifier model(sequences.size(2), pictures ? 10 : 3, std::stod(options["--dropout"]));
  model->to(device);
  for (const auto& item : model->named_parameters()) {
    std::cout << item.key() << " " << item.value().sizes() << "\n";
  }
  torch::optim::AdamW optimizer(
      model->parameters(),
      torch::optim::AdamWOptions(std::stod(options["--lr"])).weight_decay(0.01));
  torch::optim::StepLR schedule(optimizer, /*step_size=*/100, /*gamma=*/0.5);
  torch::nn::CrossEntropyLoss criterion(
      torch::nn::CrossEntropyLossOptions().reduction(torch::kMean));

  for (int64_t step = 1; step <= steps; ++step) {
    auto rows = torch::randint(sequences.size(0), {batch}, torch::kLong).to(device);
    auto loss = criterion(model(sequences.index({rows})), labels.index({rows}));
    optimizer.zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    schedule.step();
    if (step <= 10 || step % 20 == 0) {
      std::printf("step %4lld  loss %.6f\n", static_cast<long long>(step), loss.item<double>());
    }
  }

  torch::NoGradGuard no_grad;
  model->eval();
  auto correct = model(sequences).argmax(1).eq(labels).sum().item<int64_t>();
  std::printf("accuracy %.4f\n",
              static_cast<double>(correct) / static_cast<double>(labels.numel()));
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
