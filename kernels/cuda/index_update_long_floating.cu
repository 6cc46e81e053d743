#include "taper/kernels/cuda/index_update.h"

namespace taper::kernels::cuda {

TAPER_UPDATE_LONG_KERNELS(float)
TAPER_UPDATE_LONG_KERNELS(double)
TAPER_UPDATE_LONG_KERNELS(__half)
TAPER_UPDATE_LONG_KERNELS(__nv_bfloat16)

}  // namespace taper::kernels::cuda
