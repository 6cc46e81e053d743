#include "rows.h"

#include <cmath>

namespace versus {

namespace {

bool small_sizes = false;

}  // namespace

int64_t n(int64_t full) { return small_sizes ? std::max<int64_t>(full / 64, 4) : full; }
void set_small(bool small) { small_sizes = small; }

std::vector<Entry>& entries() {
  static std::vector<Entry> list;
  return list;
}

Tolerance sums(int64_t terms) {
  return {Tolerance::Kind::kUnits, 4 * std::sqrt(static_cast<double>(terms))};
}

void Row::prepare(Device device, bool checking) {
  device_ = device;
  checking_ = checking;
  manual_seed(1);  // the numbers are drawn on the CPU for both devices
  make();
}

Tensor Row::uniform(std::vector<int64_t> sizes) {
  return empty(sizes, kFloat).uniform_(-1, 1).to(device_);
}

Tensor Row::integers(int64_t end, std::vector<int64_t> sizes) {
  return empty(sizes, kLong).random_(end).to(device_);
}

Result Row::grad_of(const Tensor& output, const std::vector<Tensor>& inputs, const Tensor& at) {
  return autograd::grad({output}, inputs, {at}, /*retain_graph=*/true);
}

}  // namespace versus
