#include "taper/kernels/cuda/unary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<1> find_unary<UnaryClass::A, float>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::A, double>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::A, __half>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::A, __nv_bfloat16>(UnaryOp);

}  // namespace taper::kernels::cuda
