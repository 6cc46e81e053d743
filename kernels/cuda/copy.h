#pragma once

#include "taper/kernels/cuda/device/transpose.cuh"
#include "taper/kernels/cuda/elementwise.h"

// What a copy chooses among: the kernels for a pair of dtypes.

namespace taper::kernels::cuda {

struct FoundCopy {
  FoundKernels<1> elementwise;
  void (*transposed)(TransposeCall) = nullptr;
};

/// For two different dtypes. The kernels that serve many pairs read the dtypes at run time:
/// whole.p0 is that of the input, whole.p1 that of the output.
FoundCopy find_cast(ScalarType to, ScalarType from);

}  // namespace taper::kernels::cuda
