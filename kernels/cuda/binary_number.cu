#include "taper/kernels/cuda/binary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<2> find_binary<BinaryClass::N, float>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::N, double>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::N, __half>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::N, __nv_bfloat16>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::N, int64_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::N, int32_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::N, int16_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::N, int8_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::N, uint8_t>(BinaryOp);

}  // namespace taper::kernels::cuda
