#include "taper/kernels/cuda/binary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<2> find_binary<BinaryClass::A, float>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, double>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, __half>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, __nv_bfloat16>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, int64_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, int32_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, int16_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, int8_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, uint8_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::A, bool>(BinaryOp);

}  // namespace taper::kernels::cuda
