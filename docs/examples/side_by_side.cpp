// Trains the CNN for some steps and prints the loss of each. side_by_side.py runs the same training
// in PyTorch and puts the two columns next to each other: same seed, same batches, same dropout
// masks.

#include <taper/taper.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "support/cnn.h"

using namespace taper;

int main(int argc, char** argv) {
  int64_t steps = 100, batch = 64;
  uint64_t seed = 0;
  int threads = 1;
  std::string dtype = "float64", folder;
  CLI::App app(
      "Prints the losses of a short training of the tutorial's CNN, to be laid beside PyTorch's.");
  app.option_defaults()->always_capture_default();
  app.add_option("--steps", steps, "Steps of Adam")->check(CLI::PositiveNumber);
  app.add_option("--batch", batch, "Samples per step")->check(CLI::PositiveNumber);
  app.add_option("--seed", seed, "Seed of weights and dropout");
  app.add_option("--threads", threads, "Threads for computing")->check(CLI::PositiveNumber);
  app.add_option("--dtype", dtype, "float32 or float64")
      ->check(CLI::IsMember({"float32", "float64"}));
  app.add_option("--data", folder, "Folder in MNIST's format (default: as train_cnn)");
  CLI11_PARSE(app, argc, argv);
  try {
    set_num_threads(threads);
    const ScalarType type = dtype == "float64" ? kFloat64 : kFloat32;
    const auto images = data::datasets::find_mnist_like(folder);
    data::datasets::MNIST train_set(images.root);
    std::cout << images.root << '\n';

    manual_seed(seed);
    examples::CNN model(static_cast<int64_t>(images.classes.size()));
    model->to(type);
    model->train();
    nn::CrossEntropyLoss criterion;
    optim::Adam optimizer(model->parameters(), optim::AdamOptions(1e-3));

    const int64_t batches = static_cast<int64_t>(*train_set.size()) / batch;
    TAPER_CHECK(batches > 0, "--batch ", batch, " is larger than the data set");
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t first = step % batches * batch;
      const Tensor inputs =
          (train_set.images().slice(0, first, first + batch).to(type) - 0.5) / 0.5;
      const Tensor labels = train_set.targets().slice(0, first, first + batch);
      optimizer.zero_grad();
      const Tensor loss = criterion(model(inputs), labels);
      loss.backward();
      optimizer.step();
      std::printf("%.17g\n", loss.item<double>());
    }
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
