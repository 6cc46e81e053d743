#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "rows.h"

// What a row is measured against: the driver's own copy, and cuBLAS called directly.

namespace versus {

/// One copy within the device's memory by cudaMemcpyAsync, of as many bytes as both tensors have.
void copy_within_device(const Tensor& to, const Tensor& from);

/// A product of this size through a handle of cuBLAS with its defaults, on the current stream; null
/// where there is no cuBLAS, and why. `a` is [batch, m, k], `b` [batch, k, n], `c` [batch, m, n].
std::function<void()> bare_product(const Work& work, const Tensor& a, const Tensor& b,
                                   const Tensor& c, std::string* why);

}  // namespace versus
