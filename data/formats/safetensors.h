#pragma once

#include "taper/nn/serialize/safetensors.h"

// Modules and optimizers are saved as safetensors too, so the format lives in nn/serialize.

namespace taper::data {
using serialize::load_safetensors;
using serialize::read_safetensors;
using serialize::Safetensors;
using serialize::save_safetensors;
using serialize::StringMap;
using serialize::TensorMap;
}  // namespace taper::data
