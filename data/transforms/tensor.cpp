#include "taper/data/transforms/tensor.h"

#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/data/transforms/stack.h"

namespace taper::data::transforms::detail {

Tensor apply_to_rows(const Tensor& batch, const std::function<Tensor(Tensor)>& transform) {
  std::vector<Tensor> rows;
  rows.reserve(static_cast<size_t>(batch.size(0)));
  for (int64_t i = 0; i < batch.size(0); ++i) {
    data::detail::enter_sample(static_cast<size_t>(i));
    rows.push_back(transform(batch.select(0, i)));
  }
  return stack_samples("data", rows);
}

void check_normalize(ArrayRef<double> mean, ArrayRef<double> stddev) {
  TAPER_CHECK_VALUE(!mean.empty() && !stddev.empty(),
                    "Normalize: expected a mean and a stddev per channel, but got ", mean.size(),
                    " and ", stddev.size());
  for (const double value : stddev) {
    TAPER_CHECK_VALUE(value != 0, "Normalize: a stddev of 0 would divide by zero");
  }
}

Tensor per_channel(ArrayRef<double> values) {
  Tensor out =
      empty({static_cast<int64_t>(values.size()), 1, 1}, TensorOptions(kFloat).device(kCPU));
  for (size_t i = 0; i < values.size(); ++i) {
    out.data_ptr<float>()[i] = static_cast<float>(values[i]);
  }
  return out;
}

Tensor normalize(Tensor input, const Tensor& mean, const Tensor& stddev) {
  return input.sub(mean).div(stddev);
}

// With fewer dimensions, broadcasting against [channels, 1, 1] would mean something else for a
// batch.
bool normalizes_stacked(const Tensor& batch) { return batch.dim() == 4; }

Tensor normalize_stacked(Tensor batch, const Tensor& mean, const Tensor& stddev) {
  // In place only where neither dtype nor shape can change.
  const int64_t channels = batch.size(1);
  const auto fits = [&](const Tensor& t) { return t.size(0) == 1 || t.size(0) == channels; };
  if (batch.scalar_type() == kFloat && fits(mean) && fits(stddev)) {
    return batch.sub_(mean).div_(stddev);
  }
  return normalize(std::move(batch), mean, stddev);
}

}  // namespace taper::data::transforms::detail
