#pragma once

#include "taper/nn/serialize.h"
#include "torch/types.h"

namespace torch {

using ::taper::load, ::taper::save;

namespace serialize {
using namespace ::taper::serialize;
}

}  // namespace torch
