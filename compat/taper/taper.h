#pragma once

// All of Taper.

#include "taper/autograd/autograd.h"
#include "taper/autograd/function.h"
#include "taper/autograd/grad_mode.h"
#include "taper/autograd/gradcheck.h"
#include "taper/autograd/graph.h"
#include "taper/core/cuda.h"
#include "taper/core/cuda_memory.h"
#include "taper/core/cuda_stream.h"
#include "taper/core/factories.h"
#include "taper/core/memory.h"
#include "taper/core/ops.h"
#include "taper/core/parallel.h"
#include "taper/core/tensor.h"
#include "taper/data/data.h"
#include "taper/nn/nn.h"
#include "taper/optim/optim.h"
