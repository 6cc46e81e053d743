#include "taper/kernels/cuda/unary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<1> find_unary<UnaryClass::A, int64_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::A, int32_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::A, int16_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::A, int8_t>(UnaryOp);
template FoundKernels<1> find_unary<UnaryClass::A, uint8_t>(UnaryOp);

}  // namespace taper::kernels::cuda
