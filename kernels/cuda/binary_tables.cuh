#pragma once

#include "taper/kernels/cuda/elementwise.h"
#include "taper/kernels/functors/binary.h"
#include "taper/kernels/functors/gradients.h"

namespace taper::kernels::cuda {

template <BinaryClass kClass, class T>
FoundKernels<2> find_binary(BinaryOp op) {
#define TAPER_CASE(name, dtypes)                 \
  case BinaryOp::k##name:                        \
    if constexpr (kClass == BinaryClass::dtypes) \
      return kernels_of<functors::name, 2, T>(); \
    else                                         \
      return {};
  switch (op) {
    TAPER_BINARY_OPS(TAPER_CASE)
    default:
      return {};
  }
#undef TAPER_CASE
}

}  // namespace taper::kernels::cuda
