#pragma once

#include <utility>
#include <vector>

#include "taper/data/sample_random.h"

namespace taper::data::transforms {

/// Makes one batch of another.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;

  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch input_batch) = 0;
};

/// Makes one sample of another: derive from it and write `apply`. Random ones draw from
/// `sample_random()`.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual OutputType apply(InputType input) = 0;

  std::vector<Output> apply_batch(std::vector<Input> input_batch) override {
    std::vector<Output> output_batch;
    output_batch.reserve(input_batch.size());
    for (size_t i = 0; i < input_batch.size(); ++i) {
      data::detail::enter_sample(i);
      output_batch.push_back(apply(std::move(input_batch[i])));
    }
    return output_batch;
  }
};

}  // namespace taper::data::transforms
