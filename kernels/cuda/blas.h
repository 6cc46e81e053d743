#pragma once

#include <string>

#include "taper/kernels/kernels.h"

// Matrix products by cuBLAS, where it is there.

namespace taper::kernels::cuda {

/// Whether blas_gemm takes this product. If not, Taper's own kernel does: integers, matrices that
/// cuBLAS cannot describe, TAPER_BLAS=own, or no cuBLAS.
bool suits_blas(const GemmPlan& plan);
/// float in float (or TF32, where the plan allows it), halves with sums in float. Only for what
/// suits_blas.
Status blas_gemm(const GemmPlan& plan, const Stream& stream);

/// As cuBLAS writes it, 130000 being 13.0; 0 where there is none.
int blas_version();
/// Why there is no cuBLAS, or that TAPER_BLAS has a value that nobody knows; else empty.
const std::string& blas_problem();

/// c[i] = bias for each of the rows: before a product that adds to it.
Status fill_rows(const GemmPlan& plan, const Stream& stream);

}  // namespace taper::kernels::cuda
