#pragma once

#include "taper/kernels/cuda/elementwise.h"
#include "taper/kernels/functors/unary.h"

namespace taper::kernels::cuda {

template <UnaryClass kClass, class T>
FoundKernels<1> find_unary(UnaryOp op) {
#define TAPER_CASE(name, dtypes)                 \
  case UnaryOp::k##name:                         \
    if constexpr (kClass == UnaryClass::dtypes)  \
      return kernels_of<functors::name, 1, T>(); \
    else                                         \
      return {};
  switch (op) {
    TAPER_UNARY_OPS(TAPER_CASE)
    default:
      return {};
  }
#undef TAPER_CASE
}

}  // namespace taper::kernels::cuda
