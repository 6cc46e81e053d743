#include "taper/kernels/cuda/reduce.h"

namespace taper::kernels::cuda {

template <>
ReduceKernels find_reduction<double>(ReduceClass reduction) {
  return find_floating_reduction<double>(reduction);
}

}  // namespace taper::kernels::cuda
