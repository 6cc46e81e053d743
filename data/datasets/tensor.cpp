#include "taper/data/datasets/tensor.h"

#include "taper/core/factories.h"
#include "taper/core/ops.h"

namespace taper::data::datasets {

namespace detail {

namespace {

void check_index(const Tensor& tensor, size_t index) {
  TAPER_CHECK_INDEX(index < static_cast<size_t>(tensor.size(0)), "dataset: index ", index,
                    " is out of range for ", tensor.size(0), " samples");
}

void check_rows(const char* what, const Tensor& tensor) {
  TAPER_CHECK_VALUE(tensor.defined() && tensor.dim() > 0, what,
                    ": expected a tensor with at least one dimension, the samples");
}

}  // namespace

Tensor take_rows(const Tensor& tensor, ArrayRef<size_t> indices) {
  for (const size_t index : indices) check_index(tensor, index);
  static_assert(sizeof(size_t) == sizeof(int64_t));
  const Tensor rows =
      from_blob(const_cast<size_t*>(indices.data()), {static_cast<int64_t>(indices.size())}, kLong);
  return tensor.index_select(0, tensor.is_cpu() ? rows : rows.to(tensor.device()));
}

Tensor take_row(const Tensor& tensor, size_t index) {
  check_index(tensor, index);
  return tensor.select(0, static_cast<int64_t>(index));
}

}  // namespace detail

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(stack(tensors)) {}

TensorDataset::TensorDataset(Tensor rows) : tensor(std::move(rows)) {
  detail::check_rows("TensorDataset", tensor);
}

TensorExample TensorDataset::get(size_t index) { return detail::take_row(tensor, index); }

TensorExample TensorDataset::get_stacked(ArrayRef<size_t> indices) {
  return detail::take_rows(tensor, indices);
}

std::optional<size_t> TensorDataset::size() const { return tensor.size(0); }

LabeledTensorDataset::LabeledTensorDataset(Tensor data_, Tensor targets_)
    : data(std::move(data_)), targets(std::move(targets_)) {
  detail::check_rows("LabeledTensorDataset", data);
  detail::check_rows("LabeledTensorDataset", targets);
  TAPER_CHECK_VALUE(data.size(0) == targets.size(0),
                    "LabeledTensorDataset: size mismatch between tensors: data has ", data.size(0),
                    " samples and targets have ", targets.size(0));
}

Example<> LabeledTensorDataset::get(size_t index) {
  return {detail::take_row(data, index), detail::take_row(targets, index)};
}

Example<> LabeledTensorDataset::get_stacked(ArrayRef<size_t> indices) {
  return {detail::take_rows(data, indices), detail::take_rows(targets, indices)};
}

std::optional<size_t> LabeledTensorDataset::size() const { return data.size(0); }

}  // namespace taper::data::datasets
