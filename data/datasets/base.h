#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "taper/core/array_ref.h"
#include "taper/data/example.h"
#include "taper/data/sample_random.h"

namespace taper::data::datasets {

template <class Source, class Transform>
class MapDataset;

/// Something that gives batches. `Self` is the class that derives from it.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = false;

  virtual ~BatchDataset() = default;

  virtual Batch get_batch(BatchRequest request) = 0;
  /// Number of samples, where it is known.
  virtual std::optional<size_t> size() const = 0;

  /// A dataset whose batches went through `transform`.
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
  }
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) && {
    return {std::move(static_cast<Self&>(*this)), std::move(transform)};
  }
};

/// Something that gives single samples by index: derive from it and write `get` and `size`.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;

  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    const data::detail::BatchScope scope(0, indices);
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (size_t i = 0; i < indices.size(); ++i) {
      data::detail::enter_sample(i);
      batch.push_back(get(indices[i]));
    }
    return batch;
  }
};

template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

/// A dataset in memory that makes a whole batch at once: `get_stacked(indices)` equals stacking
/// `get(index)` for each.
template <class D>
concept StackedDataset =
    requires(D& dataset, ArrayRef<size_t> indices) { dataset.get_stacked(indices); };

namespace detail {

template <class D>
constexpr uint64_t stage_of() {
  if constexpr (requires { D::kStage; }) {
    return D::kStage;
  } else {
    return 0;
  }
}

}  // namespace detail

}  // namespace taper::data::datasets
