// Whole training steps, and the parts that only they have: optimizers, recurrent layers.

#include "bench.h"

using namespace bench;
namespace nn = torch::nn;
namespace optim = torch::optim;

static constexpr const char* kSection = "Training";

static std::vector<Tensor> parameters_with_gradients() {
  std::vector<Tensor> parameters;
  for (uint64_t i = 0; i < 100; ++i) {
    Tensor parameter = values({10'000}, -1, 1, i).requires_grad_();
    parameter.mutable_grad() = values({10'000}, -1, 1, i + 100);
    parameters.push_back(parameter);
  }
  return parameters;
}

BENCH(kSection, kAdam, "Adam, 100 tensors of 10,000") {
  const auto parameters = parameters_with_gradients();
  optim::Adam optimizer(parameters, optim::AdamOptions(1e-3));
  row.time([&] { optimizer.step(); });
  row.result(parameters);
}
BENCH(kSection, kAdam, "AdamW, 100 tensors of 10,000") {
  const auto parameters = parameters_with_gradients();
  optim::AdamW optimizer(parameters, optim::AdamWOptions(1e-3));
  row.time([&] { optimizer.step(); });
  row.result(parameters);
}
BENCH(kSection, kOther, "SGD with momentum, 100 tensors of 10,000") {
  const auto parameters = parameters_with_gradients();
  optim::SGD optimizer(parameters, optim::SGDOptions(1e-3).momentum(0.9));
  row.time([&] { optimizer.step(); });
  row.result(parameters);
}
BENCH(kSection, kOther, "RMSprop, 100 tensors of 10,000") {
  const auto parameters = parameters_with_gradients();
  optim::RMSprop optimizer(parameters, optim::RMSpropOptions(1e-3));
  row.time([&] { optimizer.step(); });
  row.result(parameters);
}
BENCH(kSection, kOther, "Adagrad, 100 tensors of 10,000") {
  const auto parameters = parameters_with_gradients();
  optim::Adagrad optimizer(parameters, optim::AdagradOptions(1e-3));
  row.time([&] { optimizer.step(); });
  row.result(parameters);
}
BENCH(kSection, kOther, "clip_grad_norm_, 100 tensors of 10,000") {
  const auto parameters = parameters_with_gradients();
  row.time([&] { nn::utils::clip_grad_norm_(parameters, 1.0); });
  row.result(parameters[0].grad());
}

static nn::Sequential make_mlp() {
  nn::Sequential mlp(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(),
                     nn::Linear(128, 10));
  fill(mlp->parameters());
  return mlp;
}

BENCH(kSection, kOther, "MLP 784-256-128-10, batch 32: forward and backward") {
  nn::Sequential mlp = make_mlp();
  const Tensor x = values({32, 784}), labels = whole_numbers({32}, 10);
  row.time([&] {
    mlp->zero_grad();
    nn::functional::cross_entropy(mlp->forward(x), labels).backward();
  });
  row.result(mlp->parameters()[0].grad());
}
BENCH(kSection, kMlp, "MLP 784-256-128-10, batch 32: step with Adam") {
  nn::Sequential mlp = make_mlp();
  optim::Adam optimizer(mlp->parameters(), optim::AdamOptions(1e-3));
  const Tensor x = values({32, 784}), labels = whole_numbers({32}, 10);
  row.time([&] {
    optimizer.zero_grad();
    nn::functional::cross_entropy(mlp->forward(x), labels).backward();
    optimizer.step();
  });
  row.result(mlp->forward(x));
}
BENCH(kSection, kOther, "MLP 784-256-128-10, batch 1: inference") {
  nn::Sequential mlp = make_mlp();
  const Tensor x = values({1, 784});
  const torch::NoGradGuard no_grad;
  row.time([&] { return mlp->forward(x); });
}

// The tutorial's CNN.
namespace {
struct CnnImpl : nn::Module {
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::MaxPool2d pool{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
  nn::Dropout dropout{nullptr};

  CnnImpl() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)));
    pool = register_module("pool", nn::MaxPool2d(nn::MaxPool2dOptions(2)));
    fc1 = register_module("fc1", nn::Linear(64 * 7 * 7, 256));
    dropout = register_module("dropout", nn::Dropout(0.5));
    fc2 = register_module("fc2", nn::Linear(256, 10));
  }
  Tensor forward(Tensor x) {
    x = pool(conv1(x).relu());
    x = pool(conv2(x).relu());
    x = dropout(fc1(x.flatten(1)).relu());
    return fc2(x);
  }
};
TORCH_MODULE(Cnn);

void train_cnn(Row& row, int64_t batch) {
  Cnn model;
  fill(model->parameters());
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(1e-3));
  const Tensor images = values({batch, 1, 28, 28}), labels = whole_numbers({batch}, 10);
  // Without dropout, whose numbers are MKL's on Intel processors.
  if (row.settings.check) model->eval();
  row.time(
      [&] {
        optimizer.zero_grad();
        const Tensor loss = nn::functional::cross_entropy(model(images), labels);
        loss.backward();
        optimizer.step();
        keep(loss.item<float>());
      },
      batch);
  row.result(model(images));
}
}  // namespace

BENCH(kSection, kCnn, "CNN, training at batch 256") { train_cnn(row, 256); }
BENCH(kSection, kCnn, "CNN, training at batch 32") { train_cnn(row, 32); }
BENCH(kSection, kOther, "CNN, inference at batch 256") {
  Cnn model;
  fill(model->parameters());
  model->eval();
  const torch::NoGradGuard no_grad;
  const Tensor images = values({256, 1, 28, 28});
  row.time([&] { return model(images); }, 256);
}

// Sequences of 28 rows of 28, as when a picture is read line by line.
BENCH(kSection, kOther, "LSTM 28 -> 128, 28 steps, batch 32: forward and backward") {
  nn::LSTM lstm(nn::LSTMOptions(28, 128));
  fill(lstm->parameters());
  const Tensor x = values({28, 32, 28});
  row.time([&] {
    lstm->zero_grad();
    std::get<0>(lstm(x)).sum().backward();
  });
  row.result(lstm->parameters()[0].grad());
}
BENCH(kSection, kOther, "GRU 28 -> 128, 28 steps, batch 32: forward and backward") {
  nn::GRU gru(nn::GRUOptions(28, 128));
  fill(gru->parameters());
  const Tensor x = values({28, 32, 28});
  row.time([&] {
    gru->zero_grad();
    std::get<0>(gru(x)).sum().backward();
  });
  row.result(gru->parameters()[0].grad());
}
BENCH(kSection, kOther, "LSTM 28 -> 128, one step, batch 32: inference") {
  nn::LSTM lstm(nn::LSTMOptions(28, 128));
  fill(lstm->parameters());
  const torch::NoGradGuard no_grad;
  const Tensor x = values({1, 32, 28});
  row.time([&] { return std::get<0>(lstm(x)); });
}
