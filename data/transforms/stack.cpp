#include "taper/data/transforms/stack.h"

#include <cstring>

#include "taper/core/factories.h"
#include "taper/core/ops.h"

namespace taper::data::transforms {

namespace detail {

Tensor stack_samples(const char* what, const std::vector<Tensor>& samples) {
  TAPER_CHECK_VALUE(!samples.empty(),
                    "Stack: expected at least one sample, but the batch is empty");
  for (size_t i = 1; i < samples.size(); ++i) {
    TAPER_CHECK_VALUE(samples[i].sizes() == samples[0].sizes(), "Stack: the ", what,
                      " of all samples must have one shape, but sample 0 of the batch has ",
                      samples[0].sizes(), " and sample ", i, " has ", samples[i].sizes());
  }
  return taper::stack(samples);
}

namespace {

template <class T>
Tensor to_tensor(const std::vector<T>& values) {
  Tensor out =
      empty({static_cast<int64_t>(values.size())}, TensorOptions(dtype_of<T>).device(kCPU));
  std::memcpy(out.data_ptr(), values.data(), values.size() * sizeof(T));
  return out;
}

}  // namespace

template <>
Tensor stack_numbers(const std::vector<int64_t>& values) {
  return to_tensor(values);
}
template <>
Tensor stack_numbers(const std::vector<double>& values) {
  return to_tensor(values);
}

}  // namespace detail

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Tensor> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {detail::stack_samples("data", data), detail::stack_samples("targets", targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Tensor> data;
  data.reserve(examples.size());
  for (TensorExample& example : examples) data.push_back(std::move(example.data));
  return detail::stack_samples("data", data);
}

}  // namespace taper::data::transforms
