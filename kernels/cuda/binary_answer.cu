#include "taper/kernels/cuda/binary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<2> find_binary<BinaryClass::C, float>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, double>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, __half>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, __nv_bfloat16>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, int64_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, int32_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, int16_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, int8_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, uint8_t>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::C, bool>(BinaryOp);

}  // namespace taper::kernels::cuda
