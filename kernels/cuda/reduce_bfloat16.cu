#include "taper/kernels/cuda/reduce.h"

namespace taper::kernels::cuda {

template <>
ReduceKernels find_reduction<__nv_bfloat16>(ReduceClass reduction) {
  return find_floating_reduction<__nv_bfloat16>(reduction);
}

}  // namespace taper::kernels::cuda
