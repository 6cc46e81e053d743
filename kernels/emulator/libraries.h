#pragma once

#include "taper/kernels/cuda/blas_api.h"

// The parts of cuBLAS that Taper calls, on emulated devices. Their results are the
// definition's, with sums in float (double for double); their refusals are the documented ones.

namespace taper::emulator {

kernels::cuda::blas::Calls blas_calls();

}  // namespace taper::emulator
