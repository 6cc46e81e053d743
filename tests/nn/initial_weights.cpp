#include "nn/golden.h"

using namespace taper;
using namespace nn_tests;

namespace {

template <class Module, class... Arguments>
void check_initial(const char* name, size_t parameters, Arguments&&... arguments) {
  manual_seed(0);
  Module module(std::forward<Arguments>(arguments)...);
  CHECK(module->parameters().size() == parameters);
  check_bits(name, *module);
}

}  // namespace

TEST_CASE("the same seed gives PyTorch's initial weights bit for bit") {
  CPU_ONLY("a device's random numbers are others");
  check_initial<nn::Linear>("Linear", 2, 30, 20);
  check_initial<nn::Linear>("LinearNoBias", 1, nn::LinearOptions(3, 2).bias(false));
  check_initial<nn::Bilinear>("Bilinear", 2, 4, 3, 5);
  check_initial<nn::Conv1d>("Conv1d", 2, 4, 6, 5);
  check_initial<nn::Conv2d>("Conv2d", 2, nn::Conv2dOptions(4, 8, {3, 5}).groups(2));
  check_initial<nn::ConvTranspose1d>("ConvTranspose1d", 2, 4, 6, 3);
  check_initial<nn::ConvTranspose2d>("ConvTranspose2d", 2,
                                     nn::ConvTranspose2dOptions(4, 6, 3).groups(2));
  check_initial<nn::RNN>("RNN", 4, 3, 4);
  check_initial<nn::LSTM>("LSTM", 16, nn::LSTMOptions(5, 7).num_layers(2).bidirectional(true));
  check_initial<nn::GRU>("GRU", 4, nn::GRUOptions(5, 7).num_layers(2).bias(false));
  check_initial<nn::RNNCell>("RNNCell", 4, 5, 7);
  check_initial<nn::LSTMCell>("LSTMCell", 4, 5, 7);
  check_initial<nn::GRUCell>("GRUCell", 4, 5, 7);
}

TEST_CASE("modules draw from the generator in the order in which they are made") {
  CPU_ONLY("a device's random numbers are others");
  manual_seed(0);
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)), nn::ReLU(),
                       nn::MaxPool2d(2), nn::Flatten(), nn::Linear(128, 10));
  // C++ leaves open in which order arguments are made: the layers are drawn again, one by one.
  manual_seed(0);
  model->at<nn::Conv2dImpl>(0).reset_parameters();
  model->at<nn::LinearImpl>(4).reset_parameters();
  check_bits("CNN", *model);
}

TEST_CASE("norms start as the identity, embeddings with a zero padding row") {
  const nn::BatchNorm2d norm(3);
  CHECK(near(norm->weight, {1, 1, 1}));
  CHECK(near(norm->bias, {0, 0, 0}));
  CHECK(near(norm->running_var, {1, 1, 1}));
  const nn::Embedding embedding(nn::EmbeddingOptions(4, 2).padding_idx(-3));
  CHECK(near(embedding->weight[1], {0, 0}));
  CHECK(embedding->weight[0].abs().max().item<float>() > 0);
}

TEST_CASE("orthogonal_ gives PyTorch's rows and columns") {
  CPU_ONLY("a device's random numbers are others");
  for (const Sizes& sizes : {Sizes{3, 5}, Sizes{5, 3}, Sizes{4, 2, 3}, Sizes{70, 100}}) {
    manual_seed(0);
    const Tensor weight = nn::init::orthogonal_(empty(sizes, kDouble), 2);
    std::string name = "orthogonal";
    for (const int64_t size : sizes) name += "." + std::to_string(size);
    check_digest(name, weight);
    const Tensor flat = weight.flatten(1);
    const Tensor square =
        flat.size(0) < flat.size(1) ? flat.matmul(flat.t()) : flat.t().matmul(flat);
    CHECK(allclose(square, eye(square.size(0), kDouble) * 4, 0, 1e-13));
  }
  CHECK(error_of([] { nn::init::orthogonal_(empty({3})); }).find("2 or more dimensions") !=
        std::string::npos);
}
