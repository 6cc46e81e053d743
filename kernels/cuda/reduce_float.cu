#include "taper/kernels/cuda/reduce.h"

namespace taper::kernels::cuda {

template <>
ReduceKernels find_reduction<float>(ReduceClass reduction) {
  return find_floating_reduction<float>(reduction);
}

}  // namespace taper::kernels::cuda
