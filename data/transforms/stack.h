#pragma once

#include <type_traits>
#include <vector>

#include "taper/data/example.h"
#include "taper/data/transforms/lambda.h"

namespace taper::data::transforms {

namespace detail {

struct StackTag {};

/// `taper::stack` with a message that speaks of samples.
TAPER_API Tensor stack_samples(const char* what, const std::vector<Tensor>& samples);

template <class T>
Tensor stack_numbers(const std::vector<T>& values);

}  // namespace detail

/// Collates samples into one batch: tensors are stacked along a new first dimension, numbers become
/// a tensor.
template <class ExampleType = Example<>>
struct Stack;

template <>
struct TAPER_API Stack<Example<>> : public Collation<Example<>>, public detail::StackTag {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};

template <>
struct TAPER_API Stack<TensorExample> : public Collation<TensorExample>, public detail::StackTag {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

template <class Number>
  requires std::is_arithmetic_v<Number>
struct Stack<Example<Tensor, Number>>
    : public BatchTransform<std::vector<Example<Tensor, Number>>, Example<>> {
  Example<> apply_batch(std::vector<Example<Tensor, Number>> examples) override {
    // As Python's collation: whole numbers become int64, floating ones float64.
    using Wide = std::conditional_t<std::is_floating_point_v<Number>, double, int64_t>;
    std::vector<Tensor> data;
    std::vector<Wide> targets;
    for (auto& example : examples) {
      data.push_back(std::move(example.data));
      targets.push_back(static_cast<Wide>(example.target));
    }
    return {detail::stack_samples("data", data), detail::stack_numbers(targets)};
  }
};

namespace detail {
template <>
TAPER_API Tensor stack_numbers(const std::vector<int64_t>& values);
template <>
TAPER_API Tensor stack_numbers(const std::vector<double>& values);
}  // namespace detail

}  // namespace taper::data::transforms
