#include "rows.h"

#include <cmath>
#include <regex>

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

std::vector<Entry> matching(const std::string& filter) {
  const std::regex expression(filter);
  std::vector<Entry> found;
  for (const Entry& entry : entries()) {
    const std::string name = std::string(entry.section) + ": " + entry.name;
    if (std::regex_search(name, expression)) found.push_back(entry);
  }
  TAPER_CHECK(!found.empty(), "--filter ", filter, ": no row has that in its name");
  return found;
}

Tolerance sums(int64_t terms) {
  return {Tolerance::Kind::kUnits, 4 * std::sqrt(static_cast<double>(terms))};
}

void Row::prepare(Device device, Purpose purpose) {
  device_ = device;
  purpose_ = purpose;
  manual_seed(1);
  make();
}

Tensor Row::uniform(std::vector<int64_t> sizes) {
  return empty(sizes, drawn().dtype(kFloat)).uniform_(-1, 1).to(device_);
}

Tensor Row::integers(int64_t end, std::vector<int64_t> sizes) {
  return empty(sizes, drawn().dtype(kLong)).random_(end).to(device_);
}

Result Row::grad_of(const Tensor& output, const std::vector<Tensor>& inputs, const Tensor& at) {
  return autograd::grad({output}, inputs, {at}, /*retain_graph=*/true);
}

}  // namespace versus
