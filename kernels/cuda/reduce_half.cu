#include "taper/kernels/cuda/reduce.h"

namespace taper::kernels::cuda {

template <>
ReduceKernels find_reduction<__half>(ReduceClass reduction) {
  return find_floating_reduction<__half>(reduction);
}

}  // namespace taper::kernels::cuda
