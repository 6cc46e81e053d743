#include "taper/kernels/cuda/gemm_tiles.h"

namespace taper::kernels::cuda {

Status gemm_double(const GemmPlan& plan, const Stream& stream) {
  return run_tiles<FmaTile<double, 64, 64, 8, 4, 4>, double, false>(plan, stream);
}

}  // namespace taper::kernels::cuda
