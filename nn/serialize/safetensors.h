#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "taper/core/tensor.h"

namespace taper::serialize {

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
/// The same from bytes in memory; `name` stands for the file in messages.
TAPER_API Safetensors read_safetensors(const void* data, size_t size, const std::string& name);
/// The tensors alone.
TAPER_API TensorMap load_safetensors(const std::string& path);

/// Writes the file atomically (see atomic_file.h): whole or not at all. Any layout, dtype and
/// device.
TAPER_API void save_safetensors(const TensorMap& tensors, const std::string& path,
                                const StringMap& metadata = {});
/// The same through a callback that takes the bytes in pieces, in order.
TAPER_API void write_safetensors(const TensorMap& tensors, const StringMap& metadata,
                                 const std::function<void(const void*, size_t)>& write);

}  // namespace taper::serialize
