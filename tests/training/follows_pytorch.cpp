// A training run laid beside PyTorch's, number by number: same seed, same batches, same dropout
// masks. The losses were written by tests/golden/training/make.py. A device's run is laid beside
// the CPU's, without dropout, whose masks come of the device's own numbers.

#include <fstream>

#include "../../docs/examples/support/cnn.h"
#include "catch.h"
#include "support/tensors.h"

using namespace taper;

namespace {

std::vector<double> golden(const std::string& dtype) {
  std::ifstream file(std::string(TAPER_GOLDEN_DIR) + "/training/losses_" + dtype + ".txt");
  std::vector<double> losses;
  for (double loss; file >> loss;) losses.push_back(loss);
  REQUIRE(losses.size() == 100);
  return losses;
}

std::vector<double> train(ScalarType dtype, int64_t steps, Device device, double dropout) {
  const support::OnCpu weights_of_pytorch;
  constexpr int64_t kBatch = 16;
  data::datasets::MNIST digits(std::string(TAPER_GOLDEN_DIR) + "/../../data/digits");
  manual_seed(7);
  examples::CNN model;
  model->dropout->options.p(dropout);
  model->to(device, dtype);
  model->train();
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(1e-3));
  const int64_t batches = static_cast<int64_t>(*digits.size()) / kBatch;
  std::vector<double> losses;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t first = step % batches * kBatch;
    const auto batch = [&](const Tensor& whole) {
      return whole.slice(0, first, first + kBatch).to(device);
    };
    const Tensor inputs = (batch(digits.images()).to(dtype) - 0.5) / 0.5;
    optimizer.zero_grad();
    const Tensor loss = criterion(model(inputs), batch(digits.targets()));
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

double largest_gap(const std::vector<double>& ours, const std::vector<double>& theirs) {
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    worst = std::max(worst, std::abs(ours[i] - theirs[i]) / std::abs(theirs[i]));
  }
  return worst;
}

}  // namespace

TEST_CASE("a hundred steps in float64 follow PyTorch to 1e-9") {
  CPU_ONLY("dropout's masks");
  const double gap = largest_gap(train(kDouble, 100, kCPU, 0.5), golden("float64"));
  INFO("largest relative difference " << gap);
  CHECK(gap < 1e-9);
}

TEST_CASE("five steps in float32 follow PyTorch to 1e-4") {
  CPU_ONLY("dropout's masks");
  const double gap = largest_gap(train(kFloat, 5, kCPU, 0.5), golden("float32"));
  INFO("largest relative difference " << gap);
  CHECK(gap < 1e-4);
}

TEST_CASE("a device's training follows the CPU's") {
  const Device device = support::device();
  if (device.is_cpu()) {
    SUCCEED("the CPU is what devices are compared with");
    return;
  }
  for (const auto& [dtype, tolerance] : {std::pair{kDouble, 1e-10}, std::pair{kFloat, 1e-4}}) {
    const std::vector<double> expected = train(dtype, 5, kCPU, 0);
    const double gap = largest_gap(train(dtype, 5, device, 0), expected);
    INFO(dtype << ": largest relative difference " << gap);
    CHECK(gap < tolerance);
    CHECK(expected.back() < expected.front());
  }
}
