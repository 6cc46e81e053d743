#pragma once

#include "taper/kernels/kernels.h"

// Matrix products with a bias by cuBLASLt, which adds it on C's way to memory.

namespace taper::kernels::cuda {

/// For what suits_blas and has a bias. `served` false: there is no cuBLASLt, or it does not do this
/// one, and nothing was done.
Status blas_lt_gemm(const GemmPlan& plan, const Stream& stream, bool* served);

}  // namespace taper::kernels::cuda
