#pragma once

#include "taper/optim/optim.h"
#include "torch/nn.h"

namespace torch::optim {

using namespace ::taper::optim;

}
