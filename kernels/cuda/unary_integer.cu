#include "taper/kernels/cuda/unary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<1> find_unary<UnaryClass::I, int64_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::I, int32_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::I, int16_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::I, int8_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::I, uint8_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::I, bool>(UnaryOp);

}  // namespace taper::kernels::cuda
