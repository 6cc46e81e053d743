#pragma once

#include "taper/autograd/autograd.h"
#include "taper/autograd/function.h"
#include "taper/autograd/grad_mode.h"
#include "torch/types.h"

namespace torch::autograd {

using namespace ::taper::autograd;

}
