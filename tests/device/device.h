#pragma once

#include <functional>
#include <string>

#include "catch.h"
#include "support/cache.h"
#include "taper/core/cuda.h"
#include "taper/core/cuda_memory.h"
#include "taper/core/cuda_stream.h"
#include "taper/core/error.h"
#include "taper/core/factories.h"
#include "taper/core/generator.h"
#include "taper/core/ops.h"
#include "taper/core/tensor.h"

// What the tests of programs on CUDA devices share.

namespace device_tests {

using namespace taper;
using support::kCached;

/// What `call` throws, or nothing.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

/// Another than the first where there is one.
inline Device last_device() {
  return Device(kCUDA, static_cast<DeviceIndex>(cuda::device_count() - 1));
}

inline TensorOptions on_cuda(ScalarType dtype = kFloat) {
  return TensorOptions(dtype).device(kCUDA);
}

}  // namespace device_tests
