#include "taper/kernels/cuda/conv_tiles.h"

namespace taper::kernels::cuda {

Status conv_float(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  using Large = FmaTile<float, 128, 64, 16, 8, 4>;
  using Small = FmaTile<float, 64, 64, 16, 4, 4>;
  return conv_in_tiles<Large, Small, float>(pass, args, stream);
}

}  // namespace taper::kernels::cuda
