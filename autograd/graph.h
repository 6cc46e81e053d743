#pragma once

#include <string>
#include <utility>
#include <vector>

#include "taper/core/tensor.h"

namespace taper::autograd {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The tape behind `tensor` as a picture for Graphviz (`dot -Tsvg`): a box per recorded op with the
/// shapes of its results, an ellipse per leaf, arrows in the direction of the forward pass. Leaves
/// that are among `names` carry their name.
TAPER_API std::string to_dot(const Tensor& tensor, const NamedTensors& names = {});

/// The same with `model->named_parameters()`.
template <class Named>
std::string to_dot(const Tensor& tensor, const Named& named) {
  NamedTensors names;
  for (const auto& item : named) names.emplace_back(item.key(), item.value());
  return to_dot(tensor, names);
}

}  // namespace taper::autograd

namespace taper {
using autograd::to_dot;
}
