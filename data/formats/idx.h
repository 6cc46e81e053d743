#pragma once

#include <string>

#include "taper/core/tensor.h"

namespace taper::data {

/// Reads a file in the IDX format of MNIST, gzipped or not (the content tells, not the name).
/// Elements are uint8, int8, int16, int32, float32 or float64, stored big-endian. Throws `Error`
/// that names the file unless its length is exactly what its header says.
TAPER_API Tensor load_idx(const std::string& path);

}  // namespace taper::data
