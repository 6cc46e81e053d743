#include "taper/kernels/cuda/unary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<1> find_unary<UnaryClass::F, float>(UnaryOp);

}  // namespace taper::kernels::cuda
