#include "taper/kernels/cuda/unary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<1> find_unary<UnaryClass::P, float>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, double>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, __half>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, __nv_bfloat16>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, int64_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, int32_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, int16_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, int8_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, uint8_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::P, bool>(UnaryOp);

}  // namespace taper::kernels::cuda
