#include "taper/data/datasets/subset.h"

#include <cmath>

#include "taper/core/factories.h"
#include "taper/core/ops.h"

namespace taper::data {

namespace datasets::detail {

std::vector<size_t> map_indices(const std::vector<size_t>& subset, ArrayRef<size_t> wanted) {
  std::vector<size_t> mapped;
  mapped.reserve(wanted.size());
  for (const size_t index : wanted) {
    TAPER_CHECK_INDEX(index < subset.size(), "Subset: index ", index, " is out of range for ",
                      subset.size(), " samples");
    mapped.push_back(subset[index]);
  }
  return mapped;
}

}  // namespace datasets::detail

namespace detail {

namespace {

// As Python's: fractions are those that add up to 1 but not more; what rounding leaves over goes
// round.
std::vector<size_t> part_sizes(size_t size, ArrayRef<SplitLength> lengths) {
  double sum = 0;
  for (const SplitLength& length : lengths) sum += length.value();
  const bool fractions = sum <= 1 && std::abs(sum - 1) <= 1e-9;
  std::vector<size_t> sizes;
  size_t total = 0;
  for (const SplitLength& length : lengths) {
    const double value =
        fractions ? std::floor(static_cast<double>(size) * length.value()) : length.value();
    TAPER_CHECK_VALUE(
        value >= 0 && value == std::floor(value) && value < 0x1p53 &&
            (!fractions || length.value() <= 1),
        "random_split: ", length.value(),
        " is neither a number of samples nor a fraction among fractions that add up to 1");
    sizes.push_back(static_cast<size_t>(value));
    total += sizes.back();
  }
  for (size_t i = 0; fractions && total < size; ++i, ++total) ++sizes[i % sizes.size()];
  TAPER_CHECK_VALUE(
      total == size,
      "random_split: Sum of input lengths does not equal the length of the input dataset: the "
      "lengths add up to ",
      total, ", and the dataset has ", size, " samples");
  return sizes;
}

}  // namespace

std::vector<std::vector<size_t>> split_indices(size_t size, ArrayRef<SplitLength> lengths,
                                               std::optional<Generator> generator) {
  const std::vector<size_t> sizes = part_sizes(size, lengths);
  const Tensor order =
      randperm(static_cast<int64_t>(size), std::move(generator), TensorOptions(kLong).device(kCPU));
  const int64_t* next = order.data_ptr<int64_t>();
  std::vector<std::vector<size_t>> parts;
  for (const size_t count : sizes) {
    parts.emplace_back(next, next + count);
    next += count;
  }
  return parts;
}

}  // namespace detail

}  // namespace taper::data
