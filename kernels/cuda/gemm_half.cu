#include "taper/kernels/cuda/gemm_tiles.h"

namespace taper::kernels::cuda {

Status gemm_half(const GemmPlan& plan, const Stream& stream) {
  return gemm_on_tensor_cores<__half>(plan, stream);
}

}  // namespace taper::kernels::cuda
