#pragma once

#include <map>
#include <string>

#include "taper/core/tensor.h"

namespace taper::data {

using TensorMap = std::map<std::string, Tensor>;
using StringMap = std::map<std::string, std::string>;

/// A safetensors file: tensors by name, and free text by name.
struct Safetensors {
  TensorMap tensors;
  StringMap metadata;
};

/// Reads a file that this or the Python package `safetensors` wrote. Tensors lie on the CPU and own
/// their memory. A file that is truncated, overlaps, has holes, names a tensor twice or says
/// anything else that does not fit is refused whole, with an `Error` that names the file and the
/// tensor.
TAPER_API Safetensors read_safetensors(const std::string& path);
/// The tensors alone.
TAPER_API TensorMap load_safetensors(const std::string& path);

/// Writes the file atomically (see atomic_file.h): whole or not at all. Any layout, dtype and
/// device.
TAPER_API void save_safetensors(const TensorMap& tensors, const std::string& path,
                                const StringMap& metadata = {});

}  // namespace taper::data
