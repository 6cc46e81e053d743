#include "taper/kernels/cuda/conv_tiles.h"

namespace taper::kernels::cuda {

Status conv_double(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  using Tile = FmaTile<double, 64, 64, 8, 4, 4>;
  return conv_in_tiles<Tile, Tile, double>(pass, args, stream);
}

}  // namespace taper::kernels::cuda
