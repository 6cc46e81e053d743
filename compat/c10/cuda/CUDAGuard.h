#pragma once

#include "c10/cuda/CUDAStream.h"

namespace c10::cuda {

using CUDAGuard = ::taper::cuda::DeviceGuard;
using CUDAStreamGuard = ::taper::cuda::StreamGuard;

}  // namespace c10::cuda

namespace at::cuda {

using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStreamGuard;

}  // namespace at::cuda
