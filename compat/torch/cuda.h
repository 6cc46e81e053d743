#pragma once

#include "taper/core/cuda.h"
#include "torch/types.h"

namespace torch::cuda {

using namespace ::taper::cuda;

}
