#pragma once

#include <cstdint>
#include <optional>

#include "taper/core/generator.h"
#include "taper/core/tensor.h"

namespace taper::data::detail {

/// `torch.empty((), dtype=torch.int64).random_().item()`: how PyTorch's loader draws a seed.
int64_t draw_seed(const std::optional<Generator>& generator);
/// The seed of the default generator; draws nothing.
uint64_t default_seed();

}  // namespace taper::data::detail
