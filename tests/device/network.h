#pragma once

#include "device.h"
#include "taper/autograd/autograd.h"
#include "taper/nn/nn.h"
#include "taper/optim/optim.h"

namespace device_tests {

/// A CNN with a bit of everything, small enough for the emulator.
struct SmallNetImpl : nn::Module {
  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::MaxPool2d pool{nullptr};
  nn::Dropout dropout{nullptr};
  nn::Linear hidden{nullptr}, out{nullptr};

  SmallNetImpl() {
    conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)));
    norm = register_module("norm", nn::BatchNorm2d(4));
    pool = register_module("pool", nn::MaxPool2d(2));
    dropout = register_module("dropout", nn::Dropout(0.5));
    hidden = register_module("hidden", nn::Linear(4 * 4 * 4, 16));
    out = register_module("out", nn::Linear(16, 10));
  }

  Tensor forward(Tensor x) {  // [batch, 1, 8, 8]
    x = pool(norm(conv(x)).relu()).flatten(1);
    return out(dropout(hidden(x).relu()));
  }
};
TAPER_MODULE(SmallNet);

/// The network and its optimizer on the current device.
struct Training {
  SmallNet net;
  std::unique_ptr<optim::Adam> optimizer;

  Training() {
    net->to(Device(kCUDA));
    optimizer = std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions(0.01));
  }
  /// The loss, on the device.
  Tensor step(const Tensor& images, const Tensor& labels) {
    optimizer->zero_grad();
    const Tensor loss = nn::functional::cross_entropy(net(images), labels);
    loss.backward();
    optimizer->step();
    return loss.detach();
  }
};

}  // namespace device_tests
