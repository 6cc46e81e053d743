#pragma once

#include <type_traits>
#include <utility>

#include "taper/data/datasets/base.h"
#include "taper/data/transforms/stack.h"
#include "taper/data/transforms/tensor.h"

namespace taper::data::datasets {

namespace detail {

/// The transform only stacks, and the source can give the stack at once.
template <class Source, class Transform>
concept StacksAtOnce =
    StackedDataset<Source> && std::is_base_of_v<transforms::detail::StackTag, Transform>;

/// The transform works on the data alone, and the source can give them stacked.
template <class Source, class Transform>
concept TransformsAtOnce = StackedDataset<Source> && transforms::detail::DataTransform<Transform>;

template <class Source>
struct StackedType {
  using type = void;
};
template <StackedDataset Source>
struct StackedType<Source> {
  using type = decltype(std::declval<Source&>().get_stacked(ArrayRef<size_t>()));
};

}  // namespace detail

/// A dataset and a transform that its batches go through; made by `dataset.map(transform)`.
template <class SourceDataset, class AppliedTransform>
class MapDataset : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                                       typename AppliedTransform::OutputBatchType,
                                       typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = typename AppliedTransform::OutputBatchType;
  static constexpr uint64_t kStage = detail::stage_of<SourceDataset>() + 1;

  static_assert(
      std::is_same_v<typename SourceDataset::BatchType, typename AppliedTransform::InputBatchType>,
      "the dataset's BatchType is not what the transform takes");

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    if constexpr (detail::StacksAtOnce<SourceDataset, AppliedTransform>) {
      return dataset_.get_stacked(request);
    } else if constexpr (std::is_convertible_v<BatchRequestType, ArrayRef<size_t>>) {
      auto batch = dataset_.get_batch(request);
      const data::detail::BatchScope scope(kStage, request);
      return transform_.apply_batch(std::move(batch));
    } else {
      auto batch = dataset_.get_batch(std::move(request));
      const data::detail::BatchScope scope(kStage, {});
      return transform_.apply_batch(std::move(batch));
    }
  }

  /// The transformed batch, made at once.
  typename detail::StackedType<SourceDataset>::type get_stacked(ArrayRef<size_t> indices)
    requires detail::TransformsAtOnce<SourceDataset, AppliedTransform>
  {
    auto batch = dataset_.get_stacked(indices);
    const data::detail::BatchScope scope(kStage, indices);
    batch.data = transform_.apply_stacked(std::move(batch.data));
    return batch;
  }

  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

/// `dataset.map(transform)` as a function.
template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  return {std::move(dataset), std::move(transform)};
}

}  // namespace taper::data::datasets
