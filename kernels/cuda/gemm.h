#pragma once

#include "taper/kernels/kernels.h"

// Taper's own matrix products.

namespace taper::kernels::cuda {

/// A grid's second dimension: so many matrices in one launch.
constexpr int64_t kMostMatrices = 65535;

/// Any product; what the table's entry does where cuBLAS does not serve.
Status own_gemm(const GemmPlan& plan, const Stream& stream,
                int64_t matrices_per_launch = kMostMatrices);

// By dtype, of one launch, with up to 2^31 rows and columns.
Status gemm_float(const GemmPlan& plan, const Stream& stream);
Status gemm_double(const GemmPlan& plan, const Stream& stream);
Status gemm_half(const GemmPlan& plan, const Stream& stream);
Status gemm_bfloat16(const GemmPlan& plan, const Stream& stream);
Status gemm_integer(const GemmPlan& plan, const Stream& stream);

}  // namespace taper::kernels::cuda
