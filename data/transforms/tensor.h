#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "taper/data/example.h"
#include "taper/data/transforms/base.h"

namespace taper::data::transforms {

namespace detail {

struct DataTag {};

/// Applies `transform` to each row of `batch`, each under its own sample's random numbers, and
/// stacks the results.
TAPER_API Tensor apply_to_rows(const Tensor& batch, const std::function<Tensor(Tensor)>& transform);

}  // namespace detail

/// Changes the data of a sample and leaves its target alone: derive from it and write `operator()`.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>>,
                        public detail::DataTag {
 public:
  using E = Example<Tensor, Target>;

  virtual Tensor operator()(Tensor input) = 0;

  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }

  /// The whole batch, samples along the first dimension: the same values as sample by sample.
  /// `batch` may be overwritten. Override it where the whole batch can be done in one go.
  virtual Tensor apply_stacked(Tensor batch) {
    return detail::apply_to_rows(batch, [this](Tensor row) { return (*this)(std::move(row)); });
  }
};

namespace detail {

/// A TensorTransform that changes the data alone: one that overrides `apply` or `apply_batch` may
/// do more.
template <class T>
concept DataTransform = std::is_base_of_v<DataTag, T> && requires(T& transform) {
  requires std::is_same_v<decltype(&T::apply),
                          typename T::E (TensorTransform<typename T::E::TargetType>::*)(
                              typename T::E)>;
  requires std::is_same_v<decltype(&T::apply_batch),
                          std::vector<typename T::E> (Transform<typename T::E, typename T::E>::*)(
                              std::vector<typename T::E>)>;
};

}  // namespace detail

/// A function of the data.
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;

  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

namespace detail {
/// Numbers per channel, float32 [channels, 1, 1].
TAPER_API Tensor per_channel(ArrayRef<double> values);
TAPER_API Tensor normalize(Tensor input, const Tensor& mean, const Tensor& stddev);
TAPER_API bool normalizes_stacked(const Tensor& batch);
TAPER_API Tensor normalize_stacked(Tensor batch, const Tensor& mean, const Tensor& stddev);
TAPER_API void check_normalize(ArrayRef<double> mean, ArrayRef<double> stddev);
}  // namespace detail

/// (x - mean) / stddev per channel: images [channels, height, width], a number per channel or one
/// for all.
template <class Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev)
      : mean((detail::check_normalize(mean, stddev), detail::per_channel(mean))),
        stddev(detail::per_channel(stddev)) {}

  Tensor operator()(Tensor input) override {
    return detail::normalize(std::move(input), mean, stddev);
  }
  Tensor apply_stacked(Tensor batch) override {
    if (!detail::normalizes_stacked(batch)) {
      return TensorTransform<Target>::apply_stacked(std::move(batch));
    }
    return detail::normalize_stacked(std::move(batch), mean, stddev);
  }

  Tensor mean, stddev;
};

}  // namespace taper::data::transforms
