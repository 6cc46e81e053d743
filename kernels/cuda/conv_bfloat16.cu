#include "taper/kernels/cuda/conv_tiles.h"

namespace taper::kernels::cuda {

Status conv_bfloat16(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  using Large = MmaTile<__nv_bfloat16, 128, 128, 2, 4>;
  using Small = MmaTile<__nv_bfloat16, 64, 64, 2, 2>;
  return conv_in_tiles<Large, Small, __nv_bfloat16>(pass, args, stream);
}

}  // namespace taper::kernels::cuda
