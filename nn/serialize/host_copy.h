#pragma once

#include <string>

#include "taper/core/ops.h"

namespace taper::serialize::detail {

/// The values, dense and row-major on the CPU, without history.
inline Tensor host_copy(const Tensor& tensor) {
  return tensor.detach().to(Device(kCPU)).contiguous();
}

/// A bool may only be 0 or 1; a file may hold anything.
inline void check_bools(const Tensor& tensor, const std::string& path) {
  if (tensor.scalar_type() != kBool) return;
  const auto* bytes = static_cast<const unsigned char*>(tensor.data_ptr());
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    TAPER_CHECK(bytes[i] <= 1, "'", path, "' holds a bool that is ", int{bytes[i]},
                ", neither 0 nor 1, at element ", i);
  }
}

}  // namespace taper::serialize::detail
