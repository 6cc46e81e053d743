// Steps of optimizers and of whole trainings.

#include "cnn.h"
#include "rows.h"

namespace versus {

std::vector<Tensor> Row::leaves_with_gradients(int64_t size) {
  std::vector<Tensor> leaves;
  for (int count = 0; count < 100; ++count) {
    Tensor tensor = leaf(values(size));
    tensor.mutable_grad() = values(size);
    leaves.push_back(tensor);
  }
  return leaves;
}

template <class Optimizer, class Options>
static Step stepping(const std::vector<Tensor>& leaves, const Options& options) {
  const auto optimizer = std::make_shared<Optimizer>(leaves, options);
  return [=] {
    optimizer->step();
    return Result(leaves);
  };
}

Step Row::adam(int64_t size) {
  return stepping<optim::Adam>(leaves_with_gradients(size), optim::AdamOptions(1e-3));
}
Step Row::adamw(int64_t size) {
  return stepping<optim::AdamW>(leaves_with_gradients(size), optim::AdamWOptions(1e-3));
}
Step Row::sgd(int64_t size) {
  return stepping<optim::SGD>(leaves_with_gradients(size), optim::SGDOptions(1e-3).momentum(0.9));
}
Step Row::clip(int64_t size) {
  const std::vector<Tensor> leaves = leaves_with_gradients(size);
  return [=] {
    nn::utils::clip_grad_norm_(leaves, 1.0);
    return Result(leaves[0].grad());
  };
}

template <class Model>
static Step training(Model model, const Tensor& inputs, const Tensor& labels) {
  const std::vector<Tensor> parameters = model->parameters();
  const auto optimizer = std::make_shared<optim::Adam>(parameters, optim::AdamOptions(1e-3));
  return [=]() mutable {
    optimizer->zero_grad();
    const Tensor loss = nn::functional::cross_entropy(model->forward(inputs), labels);
    loss.backward();
    optimizer->step();
    return Result(std::vector<Tensor>{loss.detach(), parameters[0].grad()});
  };
}

Step Row::train_cnn(int64_t batch) {
  examples::CNN model;
  model->to(device_);
  if (purpose_ == Purpose::kCompare)
    model->eval();  // without dropout, whose numbers are each device's own
  return training(model, values(batch, 1, 28, 28), whole_numbers(10, batch));
}
Step Row::train_mlp(int64_t batch) {
  nn::Sequential model(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(),
                       nn::Linear(128, 10));
  model->to(device_);
  return training(model, values(batch, 784), whole_numbers(10, batch));
}

}  // namespace versus
