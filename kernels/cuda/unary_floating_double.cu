#include "taper/kernels/cuda/unary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<1> find_unary<UnaryClass::F, double>(UnaryOp);

}  // namespace taper::kernels::cuda
