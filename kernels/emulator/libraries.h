#pragma once

#include <string>

#include "taper/kernels/cuda/blas_api.h"
#include "taper/kernels/cuda/blas_lt_api.h"
#include "taper/kernels/cuda/dnn_api.h"

// The parts of cuBLAS, cuBLASLt and cuDNN that Taper calls, on emulated devices. Their results are
// the definition's, with sums in float (double for double); their refusals are the documented ones.

namespace taper::emulator {

/// Why they are not there; empty where they are.
std::string library_problem();
kernels::cuda::blas::Calls blas_calls();
kernels::cuda::blas_lt::Calls blas_lt_calls();
kernels::cuda::dnn::Calls dnn_calls();

}  // namespace taper::emulator
