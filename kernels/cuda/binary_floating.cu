#include "taper/kernels/cuda/binary_tables.cuh"

namespace taper::kernels::cuda {

template FoundKernels<2> find_binary<BinaryClass::F, float>(BinaryOp);
template FoundKernels<2> find_binary<BinaryClass::F, double>(BinaryOp);

}  // namespace taper::kernels::cuda
