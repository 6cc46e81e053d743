#pragma once

#include <vector>

#include "taper/core/tensor.h"

// Running the tape backwards.

namespace taper::autograd {

using variable_list = std::vector<Tensor>;
using Variable = Tensor;

/// Computes the gradients of `tensors` with respect to the leaves they depend on, and adds them to
/// their `.grad()`. `grad_tensors` are the gradients that arrive at `tensors`, needed where these
/// are not scalars. `retain_graph` (default: create_graph) keeps what a second pass needs;
/// `create_graph` records the pass itself, for higher derivatives. With `inputs`, only these
/// accumulate. Throws when nothing requires grad, for non-scalars without gradient, and on a second
/// pass.
TAPER_API void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                        std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                        const variable_list& inputs = {});

/// The gradients of `outputs` with respect to `inputs`, returned rather than accumulated. An input
/// that outputs do not depend on throws, or gives an undefined tensor with `allow_unused`.
TAPER_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                             const variable_list& grad_outputs = {},
                             std::optional<bool> retain_graph = std::nullopt,
                             bool create_graph = false, bool allow_unused = false);

}  // namespace taper::autograd
