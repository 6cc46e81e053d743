#pragma once

#include "c10/cuda/CUDAStream.h"

namespace at::cuda {

using CUDAEvent = ::taper::cuda::Event;

}  // namespace at::cuda
