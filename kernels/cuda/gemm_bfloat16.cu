#include "taper/kernels/cuda/gemm_tiles.h"

namespace taper::kernels::cuda {

Status gemm_bfloat16(const GemmPlan& plan, const Stream& stream) {
  return gemm_on_tensor_cores<__nv_bfloat16>(plan, stream);
}

}  // namespace taper::kernels::cuda
