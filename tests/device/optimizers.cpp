#include "device.h"
#include "taper/nn/modules/linear.h"
#include "taper/optim/optim.h"

// What an optimizer keeps, and what scales its gradients, on another device than its parameters.

using namespace device_tests;

TEST_CASE("an optimizer refuses a module that was moved after its first step") {
  nn::Linear model(3, 2);
  optim::RMSprop optimizer(model->parameters(), optim::RMSpropOptions(0.1));
  const auto step = [&](Device device) {
    optimizer.zero_grad();
    model(ones({1, 3}, device)).sum().backward();
    optimizer.step();
  };
  step(kCPU);
  model->to(kCUDA);
  const Tensor before = model->weight.detach().cpu();
  contains(
      error_of([&] { step(kCUDA); }),
      "RMSprop: Expected all tensors to be on the same device, but a parameter is on cuda:0 and "
      "its state on cpu");
  CHECK(model->weight.detach().cpu().equal(before));
}

TEST_CASE("the scale of gradients follows to the devices of the parameters") {
  for (const Device where : {Device(kCPU), Device(kCUDA, 0)}) {
    for (const float found : {0.f, 1.f}) {
      Tensor here = ones({2}), there = ones({2}, kCUDA);
      for (Tensor* parameter : {&here, &there}) {
        parameter->requires_grad_(true);
        parameter->mutable_grad() = full({2}, 8, parameter->options());
      }
      optim::SGD optimizer({here, there}, optim::SGDOptions(0.5));
      optimizer.set_grad_scale(full({1}, found, where), full({1}, 0.125, where));
      optimizer.step();
      const float expected = found == 0 ? 0.5f : 1;
      CHECK(here[1].item<float>() == expected);
      CHECK(there[1].item<float>() == expected);
    }
  }
}
