#pragma once

// Many programs include this beside torch.h and use nothing of it. There is no TorchScript in
// Taper, so torch::jit does not exist.

#include "torch/all.h"
