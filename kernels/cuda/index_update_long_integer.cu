#include "taper/kernels/cuda/index_update.h"

namespace taper::kernels::cuda {

TAPER_UPDATE_LONG_KERNELS(int64_t)
TAPER_UPDATE_LONG_KERNELS(int32_t)
TAPER_UPDATE_LONG_KERNELS(int16_t)
TAPER_UPDATE_LONG_KERNELS(int8_t)
TAPER_UPDATE_LONG_KERNELS(uint8_t)
TAPER_UPDATE_LONG_KERNELS(bool)

}  // namespace taper::kernels::cuda
