#pragma once

#include <functional>
#include <vector>

#include "taper/core/tensor.h"

// Checks backward rules against finite differences.

namespace taper::autograd {

using GradcheckFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Compares the gradients of `fn` with central differences: for each element of each float64 input
/// that requires grad, |analytic - numeric| <= atol + rtol * |numeric|. Outputs that can't be
/// differentiated are ignored; so are inputs that don't require grad. Also checks that each
/// gradient has its input's shape and dtype. Returns true; throws an Error that names input,
/// element, output and both values at the first difference. `fn` must not keep state, and its
/// inputs, on whatever device they live, must not overlap in memory.
TAPER_API bool gradcheck(const GradcheckFunction& fn, const std::vector<Tensor>& inputs,
                         double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3);

/// The same for the gradients themselves, as functions of the inputs and of the incoming gradients:
/// whether the backward of the backward is right. Incoming gradients are fixed numbers between -1
/// and 1.
TAPER_API bool gradgradcheck(const GradcheckFunction& fn, const std::vector<Tensor>& inputs,
                             double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3);

}  // namespace taper::autograd
