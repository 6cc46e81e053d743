// The complete workflow: device, data, model, loss, optimizer, training and validation per epoch.
// support/ has what is beside the point here: options, progress bar, files, checkpoints.

#include <taper/taper.h>

#include "support/cnn.h"
#include "support/options.h"
#include "support/run.h"

using namespace taper;
namespace datasets = data::datasets;
namespace transforms = data::transforms;

int train(const examples::Options& options) {
  manual_seed(static_cast<uint64_t>(options.seed));
  set_num_threads(static_cast<int>(options.threads));
  const Device device(options.device);

  const auto images = datasets::find_mnist_like(options.data);
  const auto normalize =
      transforms::Compose(transforms::ToTensor(), transforms::Normalize<>({0.5}, {0.5}));
  const datasets::MNIST training(images.root, datasets::MNIST::Mode::kTrain);
  const datasets::MNIST testing(images.root, datasets::MNIST::Mode::kTest);
  auto train_set = examples::first(training, options.images).map(normalize);
  auto test_set = examples::first(testing, options.test_images()).map(normalize);
  data::DataLoader train_loader(train_set, {.batch_size = options.batch,
                                            .shuffle = true,
                                            .num_workers = options.workers,
                                            .pin_memory = device.is_cuda()});
  data::DataLoader test_loader(test_set, {.batch_size = 1000, .num_workers = options.workers});

  examples::CNN model(static_cast<int64_t>(images.classes.size()));
  model->to(device);
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(options.lr));

  examples::Run run(options, images.name, device);
  run.restore_or_start(*model, optimizer, train_loader);

  for (int64_t epoch = run.epoch(); epoch <= options.epochs; ++epoch) {
    model->train();
    for (auto& [inputs, labels] : run.training(train_loader, epoch)) {
      inputs = inputs.to(device, /*non_blocking=*/true);
      labels = labels.to(device, /*non_blocking=*/true);

      optimizer.zero_grad();
      const Tensor outputs = model(inputs);
      const Tensor loss = criterion(outputs, labels);
      loss.backward();
      optimizer.step();

      run.count(loss.item<double>(), outputs.argmax(1).eq(labels).sum().item<int64_t>(),
                labels.size(0));
      if (run.should_stop()) return run.interrupted();
    }

    model->eval();
    const NoGradGuard no_grad;
    for (auto& [inputs, labels] : run.validation(test_loader, epoch)) {
      inputs = inputs.to(device);
      labels = labels.to(device);
      const Tensor outputs = model(inputs);
      run.count(criterion(outputs, labels).item<double>(),
                outputs.argmax(1).eq(labels).sum().item<int64_t>(), labels.size(0));
      if (run.should_stop()) return run.interrupted();
    }
    run.finish_epoch();
  }
  run.finish();
  return 0;
}

int main(int argc, char** argv) {
  return examples::run_main(argc, argv, "Trains the tutorial's CNN on images in MNIST's format.",
                            train);
}
