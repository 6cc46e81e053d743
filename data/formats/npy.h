#pragma once

#include <string>

#include "taper/core/tensor.h"

namespace taper::data {

/// Reads an array that `numpy.save` wrote: bool, uint8, int8 to int64, float16 to float64; either
/// byte order, C or Fortran order (the result is row-major). Throws `Error` that names the file for
/// anything else.
TAPER_API Tensor load_npy(const std::string& path);

/// Writes what `numpy.load` reads, atomically. Any layout and device. NumPy has no bfloat16:
/// convert first, or use `save_safetensors`.
TAPER_API void save_npy(const Tensor& tensor, const std::string& path);

}  // namespace taper::data
