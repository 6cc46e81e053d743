#include "taper/kernels/cuda/unary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<1> find_unary<UnaryClass::F, __half>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::F, __nv_bfloat16>(UnaryOp);

}  // namespace taper::kernels::cuda
