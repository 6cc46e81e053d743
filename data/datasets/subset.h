#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "taper/data/datasets/base.h"

namespace taper::data::datasets {

namespace detail {
TAPER_API std::vector<size_t> map_indices(const std::vector<size_t>& subset,
                                          ArrayRef<size_t> wanted);
}

/// Some samples of a dataset, in a given order.
template <class D>
class Subset : public BatchDataset<Subset<D>, typename D::BatchType> {
 public:
  static constexpr uint64_t kStage = detail::stage_of<D>() + 1;

  Subset(D dataset, std::vector<size_t> indices)
      : dataset_(std::move(dataset)), indices_(std::move(indices)) {}

  typename D::BatchType get_batch(ArrayRef<size_t> request) override {
    const std::vector<size_t> mapped = detail::map_indices(indices_, request);
    return dataset_.get_batch(mapped);
  }
  auto get_stacked(ArrayRef<size_t> request)
    requires StackedDataset<D>
  {
    const std::vector<size_t> mapped = detail::map_indices(indices_, request);
    return dataset_.get_stacked(mapped);
  }
  /// One sample, where the dataset gives single ones.
  auto get(size_t index)
    requires requires(D& dataset) { dataset.get(index); }
  {
    return dataset_.get(detail::map_indices(indices_, index)[0]);
  }
  std::optional<size_t> size() const override { return indices_.size(); }

  D& dataset() { return dataset_; }
  const std::vector<size_t>& indices() const { return indices_; }

 private:
  D dataset_;
  std::vector<size_t> indices_;
};

}  // namespace taper::data::datasets

namespace taper::data {

using datasets::Subset;

/// A number of samples, or a fraction of all.
class SplitLength {
 public:
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  SplitLength(Number value) : value_(static_cast<double>(value)) {}
  double value() const { return value_; }

 private:
  double value_;
};

namespace detail {
TAPER_API std::vector<std::vector<size_t>> split_indices(size_t size, ArrayRef<SplitLength> lengths,
                                                         std::optional<Generator> generator);
}

/// Splits a dataset at random into parts that don't overlap: `random_split(dataset, {50000,
/// 10000})`, or by fractions that add up to 1, `random_split(dataset, {0.8, 0.2})`. PyTorch's order
/// for the same generator.
template <class D>
std::vector<Subset<D>> random_split(const D& dataset, ArrayRef<SplitLength> lengths,
                                    std::optional<Generator> generator = std::nullopt) {
  const std::optional<size_t> size = dataset.size();
  TAPER_CHECK_VALUE(size.has_value(), "random_split: expected a dataset that knows its size");
  std::vector<Subset<D>> parts;
  for (std::vector<size_t>& indices : detail::split_indices(*size, lengths, std::move(generator))) {
    parts.emplace_back(dataset, std::move(indices));
  }
  return parts;
}

}  // namespace taper::data
