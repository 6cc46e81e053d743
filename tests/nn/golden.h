#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/rows.h"
#include "taper/autograd/grad_mode.h"
#include "taper/autograd/gradcheck.h"
#include "taper/nn/nn.h"

// What PyTorch's modules gave: tests/golden/nn.txt, written by tests/golden/generate_nn.py.

namespace nn_tests {

using namespace support;
using taper::Tensor;

/// The words after "bits NAME", "values NAME" or "digest NAME".
const std::vector<std::string>& golden_words(const std::string& kind, const std::string& name);
std::vector<double> golden_values(const std::string& name);

/// The generator's inputs: 0.8 sin(0.7 i + phase), float64.
Tensor wave(const Sizes& sizes, double phase = 0);

/// A float64 module with PyTorch's initial weights for seed 0, on the device that is tested.
template <class Holder, class... Arguments>
Holder seeded(const Arguments&... arguments) {
  taper::manual_seed(0);
  const auto made = [&] {
    const OnCpu here;
    return Holder(arguments...);
  };
  Holder model = made();
  model->to(device(), taper::kDouble);
  return model;
}

/// Elements (or sum and projection) as in the golden file, within 1e-9.
void check_values(const std::string& name, const Tensor& tensor);
void check_digest(const std::string& name, const Tensor& tensor);
/// Every parameter has PyTorch's bits.
void check_bits(const std::string& name, const taper::nn::Module& module);

}  // namespace nn_tests
