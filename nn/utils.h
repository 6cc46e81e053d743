#pragma once

#include <vector>

#include "taper/core/tensor.h"

namespace taper::nn::utils {

/// Scales all gradients by one factor so that their joint norm is at most `max_norm` (never up),
/// and returns what the norm was. Parameters without a gradient count for nothing. With
/// `error_if_nonfinite` an infinite or NaN norm throws before anything is changed; else it makes
/// the gradients 0 or NaN.
TAPER_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                 double norm_type = 2.0, bool error_if_nonfinite = false);
TAPER_API double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm,
                                 double norm_type = 2.0, bool error_if_nonfinite = false);
TAPER_API double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0,
                                 bool error_if_nonfinite = false);

/// Limits every element of every gradient to [-clip_value, clip_value].
TAPER_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
TAPER_API void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value);
TAPER_API void clip_grad_value_(Tensor parameter, double clip_value);

/// All parameters in one dimension, one after the other. Recorded.
TAPER_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// The other way: each parameter becomes a view of its part of `vec`.
TAPER_API void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace taper::nn::utils
