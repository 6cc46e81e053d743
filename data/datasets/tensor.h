#pragma once

#include <utility>
#include <vector>

#include "taper/data/datasets/base.h"

namespace taper::data::datasets {

namespace detail {

/// The rows of `tensor` with these indices, copied. Throws IndexError that names the index and the
/// size.
TAPER_API Tensor take_rows(const Tensor& tensor, ArrayRef<size_t> indices);
/// One row, a view.
TAPER_API Tensor take_row(const Tensor& tensor, size_t index);

}  // namespace detail

/// The rows of one tensor, without targets.
struct TAPER_API TensorDataset : public Dataset<TensorDataset, TensorExample> {
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  explicit TensorDataset(Tensor tensor);

  TensorExample get(size_t index) override;
  TensorExample get_stacked(ArrayRef<size_t> indices);
  std::optional<size_t> size() const override;

  Tensor tensor;
};

/// The rows of two tensors: Python's `TensorDataset(data, targets)`.
struct TAPER_API LabeledTensorDataset : public Dataset<LabeledTensorDataset> {
  LabeledTensorDataset(Tensor data, Tensor targets);

  Example<> get(size_t index) override;
  Example<> get_stacked(ArrayRef<size_t> indices);
  std::optional<size_t> size() const override;

  Tensor data, targets;
};

}  // namespace taper::data::datasets
