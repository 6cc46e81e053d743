#pragma once

#include "taper/nn/nn.h"
#include "torch/serialize.h"
#include "torch/types.h"

namespace torch::nn {

using namespace ::taper::nn;

// Aliases: `using namespace torch::nn` must not find two namespaces of one name.
namespace functional = ::taper::nn::functional;
namespace init = ::taper::nn::init;
namespace utils = ::taper::nn::utils;

}  // namespace torch::nn

#define TORCH_MODULE_IMPL(Name, ImplType) TAPER_MODULE_IMPL(Name, ImplType)
#define TORCH_MODULE(Name) TAPER_MODULE(Name)
#define FORWARD_HAS_DEFAULT_ARGS(...) TAPER_FORWARD_DEFAULTS(__VA_ARGS__)
