#pragma once

#include "ATen/ATen.h"
#include "taper/nn/enum.h"
#include "taper/nn/expanding_array.h"
#include "taper/nn/ordered_dict.h"

namespace torch {

using namespace at;

using ::taper::Dtype;
using ::taper::ExpandingArray, ::taper::ExpandingArrayWithOptionalElem, ::taper::OrderedDict;

constexpr ScalarType kU8 = at::kByte, kI8 = at::kChar, kI16 = at::kShort, kI32 = at::kInt,
                     kI64 = at::kLong, kF16 = at::kHalf, kF32 = at::kFloat, kF64 = at::kDouble;

namespace enumtype = ::taper::enumtype;
using ::taper::kArea, ::taper::kBatchMean, ::taper::kBicubic, ::taper::kBilinear, ::taper::kBorder,
    ::taper::kCircular, ::taper::kConstant, ::taper::kConv1D, ::taper::kConv2D, ::taper::kConv3D,
    ::taper::kConvTranspose1D, ::taper::kConvTranspose2D, ::taper::kConvTranspose3D,
    ::taper::kFanIn, ::taper::kFanOut, ::taper::kGELU, ::taper::kGRU, ::taper::kLeakyReLU,
    ::taper::kLinear, ::taper::kLSTM, ::taper::kMax, ::taper::kMean, ::taper::kMish,
    ::taper::kNearest, ::taper::kNearestExact, ::taper::kNone, ::taper::kReflect,
    ::taper::kReflection, ::taper::kReLU, ::taper::kReplicate, ::taper::kRNN_RELU,
    ::taper::kRNN_TANH, ::taper::kSame, ::taper::kSigmoid, ::taper::kSiLU, ::taper::kSum,
    ::taper::kTanh, ::taper::kTrilinear, ::taper::kValid, ::taper::kZeros;

}  // namespace torch

#define TORCH_ARG(Type, name) TAPER_ARG(Type, name)
