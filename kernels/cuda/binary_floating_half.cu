#include "taper/kernels/cuda/binary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<2> find_binary<BinaryClass::F, __half>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::F, __nv_bfloat16>(BinaryOp);

}  // namespace taper::kernels::cuda
