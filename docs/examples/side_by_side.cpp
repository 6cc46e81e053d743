// Trains the CNN for some steps and prints the loss of each. side_by_side.py runs the same training
// in PyTorch and puts the two columns next to each other: same seed, same batches, same dropout
// masks. (The masks are the CPU's: with --device cuda the losses are only alike.)

#include <taper/taper.h>

#include <cstdio>
#include <iostream>

#include "support/cnn.h"
#include "support/options.h"

using namespace taper;

int main(int argc, char** argv) {
  int64_t steps = 100, batch = 64, seed = 0, threads = 1;
  std::string dtype = "float64", folder, name = "cpu";
  examples::CommandLine line(
      "Prints the losses of a short training of the tutorial's CNN, to be laid beside PyTorch's.");
  line.whole("--steps", steps, 1, "Steps of Adam");
  line.whole("--batch", batch, 1, "Samples per step");
  line.whole("--seed", seed, 0, "Seed of weights and dropout");
  line.threads(threads);
  line.choice("--dtype", dtype, {"float32", "float64"}, "Of weights and data");
  line.device("--device", name);
  line.data(folder);
  return line.run(argc, argv, [&] {
    set_num_threads(static_cast<int>(threads));
    const Device device(name);
    const ScalarType type = dtype == "float64" ? kFloat64 : kFloat32;
    const auto images = data::datasets::find_mnist_like(folder);
    data::datasets::MNIST train_set(images.root);
    std::cout << images.root << '\n';

    manual_seed(static_cast<uint64_t>(seed));
    examples::CNN model(static_cast<int64_t>(images.classes.size()));
    model->to(device, type);
    model->train();
    nn::CrossEntropyLoss criterion;
    optim::Adam optimizer(model->parameters(), optim::AdamOptions(1e-3));

    const int64_t batches = static_cast<int64_t>(*train_set.size()) / batch;
    TAPER_CHECK(batches > 0, "--batch ", batch, " is larger than the data set");
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t first = step % batches * batch;
      const Tensor pictures = train_set.images().slice(0, first, first + batch);
      const Tensor inputs = (pictures.to(device, type) - 0.5) / 0.5;
      const Tensor labels = train_set.targets().slice(0, first, first + batch).to(device);
      optimizer.zero_grad();
      const Tensor loss = criterion(model(inputs), labels);
      loss.backward();
      optimizer.step();
      std::printf("%.17g\n", loss.item<double>());
    }
    return 0;
  });
}
