#include "taper/kernels/cuda/conv_tiles.h"

namespace taper::kernels::cuda {

Status conv_bfloat16(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  // Higher than wide: a patch is looked up once for 128 channels. Eight warps to either, since what
  // is known of a line takes registers: the fewer lines a thread has, the better.
  using Large = MmaTile<__nv_bfloat16, 128, 64, 4, 2>;
  using Small = MmaTile<__nv_bfloat16, 64, 64, 2, 4>;
  return conv_in_tiles<Large, Small, __nv_bfloat16>(pass, args, stream);
}

}  // namespace taper::kernels::cuda
