#include "taper/kernels/cuda/binary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<2> find_binary<BinaryClass::I, int64_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::I, int32_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::I, int16_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::I, int8_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::I, uint8_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::I, bool>(BinaryOp);

}  // namespace taper::kernels::cuda
