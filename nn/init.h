#pragma once

#include <variant>

#include "taper/core/tensor.h"
#include "taper/nn/enum.h"

// Initialisation of weights, in place and unrecorded. Random draws come from the default generator.

namespace taper::nn::init {

using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D,
                 enumtype::kConvTranspose1D, enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                 enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU, enumtype::kLeakyReLU>;
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

/// By how much a nonlinearity shrinks the spread; `param` is the slope of a leaky ReLU.
TAPER_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);
TAPER_API Tensor constant_(Tensor tensor, Scalar value);
TAPER_API Tensor ones_(Tensor tensor);
TAPER_API Tensor zeros_(Tensor tensor);
TAPER_API Tensor eye_(Tensor matrix);
/// Keeps the channels of a convolution as they are.
TAPER_API Tensor dirac_(Tensor tensor);
TAPER_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
TAPER_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
/// Rows (or columns, if those are fewer) that are orthogonal and of length `gain`; dimensions from
/// the second on count as one. Saxe et al., arXiv 1312.6120.
TAPER_API Tensor orthogonal_(Tensor tensor, double gain = 1.0);
/// Glorot and Bengio, 2010.
TAPER_API Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
TAPER_API Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);
/// He et al., arXiv 1502.01852.
TAPER_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                 NonlinearityType nonlinearity = kLeakyReLU);
TAPER_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                  NonlinearityType nonlinearity = kLeakyReLU);
/// Inputs and outputs of one unit, the size of the kernel included.
TAPER_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace taper::nn::init
