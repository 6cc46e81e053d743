#include "taper/kernels/cuda/conv_tiles.h"

namespace taper::kernels::cuda {

Status conv_half(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  using Large = MmaTile<__half, 128, 128, 2, 4>;
  using Small = MmaTile<__half, 64, 64, 2, 2>;
  return conv_in_tiles<Large, Small, __half>(pass, args, stream);
}

}  // namespace taper::kernels::cuda
