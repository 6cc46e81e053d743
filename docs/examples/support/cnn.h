#pragma once

#include <taper/taper.h>

namespace examples {

/// The tutorial's network: two convolutions, each followed by a pooling, then two linear layers.
struct CNNImpl : taper::nn::Module {
  taper::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  taper::nn::MaxPool2d pool{nullptr};
  taper::nn::Linear fc1{nullptr}, fc2{nullptr};
  taper::nn::Dropout dropout{nullptr};

  explicit CNNImpl(int64_t classes = 10) {
    using namespace taper;
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)));
    pool = register_module("pool", nn::MaxPool2d(2));
    fc1 = register_module("fc1", nn::Linear(64 * 7 * 7, 256));
    dropout = register_module("dropout", nn::Dropout(0.5));
    fc2 = register_module("fc2", nn::Linear(256, classes));
  }

  taper::Tensor forward(taper::Tensor x) {
    x = pool(conv1(x).relu());   // [N, 32, 14, 14]
    x = pool(conv2(x).relu());   // [N, 64, 7, 7]
    x = x.flatten(1);            // [N, 3136]
    x = dropout(fc1(x).relu());  // [N, 256]
    return fc2(x);               // [N, classes]
  }
};
TAPER_MODULE(CNN);

}  // namespace examples
