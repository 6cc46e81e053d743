#include "taper/kernels/cuda/gemm_tiles.h"

namespace taper::kernels::cuda {

Status gemm_float(const GemmPlan& plan, const Stream& stream) {
  using Large = FmaTile<float, 128, 64, 16, 8, 4>;
  using Small = FmaTile<float, 64, 64, 16, 4, 4>;
  return suits_large<Large>(plan, stream) ? run_tiles<Large, float, false>(plan, stream)
                                          : run_tiles<Small, float, false>(plan, stream);
}

}  // namespace taper::kernels::cuda
