#pragma once

#include <tuple>
#include <utility>

#include "taper/data/transforms/tensor.h"

namespace taper::data::transforms {

/// Several transforms of the data in a row: `Compose(ToTensor(), Normalize({0.1307}, {0.3081}))`.
template <class... Transforms>
class Compose : public TensorTransform<> {
 public:
  explicit Compose(Transforms... transforms) : transforms_(std::move(transforms)...) {}

  Tensor operator()(Tensor input) override {
    each([&](auto& transform) { input = transform(std::move(input)); });
    return input;
  }
  Tensor apply_stacked(Tensor batch) override {
    each([&](auto& transform) { batch = transform.apply_stacked(std::move(batch)); });
    return batch;
  }

 private:
  // Each transform has random numbers of its own, the same in both ways of applying it.
  template <class Function>
  void each(Function function) {
    std::apply(
        [&](auto&... transforms) {
          uint64_t part = 0;
          const auto one = [&](auto& transform) {
            const data::detail::PartScope scope(part++);
            function(transform);
          };
          (one(transforms), ...);
        },
        transforms_);
  }

  std::tuple<Transforms...> transforms_;
};

}  // namespace taper::data::transforms
