#pragma once

#include <cstdint>

#include "taper/core/dtype.h"
#include "taper/kernels/status.h"

namespace taper::kernels {

/// Calls visit(U{}) with an unsigned integer as large as an element: moving does not care for the
/// type.
template <class Visit>
Status for_element_size(ScalarType dtype, const Visit& visit) {
  switch (element_size(dtype)) {
    case 1:
      return visit(uint8_t{});
    case 2:
      return visit(uint16_t{});
    case 4:
      return visit(uint32_t{});
    case 8:
      return visit(uint64_t{});
    default:
      return unsupported();
  }
}
}  // namespace taper::kernels
