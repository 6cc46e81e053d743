#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

#include "catch.h"
#include "taper/core/cuda.h"
#include "taper/core/cuda_memory.h"
#include "taper/core/cuda_stream.h"
#include "taper/core/error.h"
#include "taper/core/factories.h"
#include "taper/core/generator.h"
#include "taper/core/ops.h"
#include "taper/core/tensor.h"
#include "taper/kernels/emulator/control.h"

// What the tests of programs on CUDA devices share.

namespace device_tests {

using namespace taper;

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

inline TensorOptions on_cuda(ScalarType dtype = kFloat) {
  return TensorOptions(dtype).device(kCUDA);
}

/// The emulator in the plugin that the library has loaded.
const emulator::Control& the_emulator();

/// How often a function of the runtime was called (or the host waited) during `run`.
inline int64_t count_calls(const char* name, const std::function<void()>& run) {
  const int64_t before = the_emulator().call_count(name);
  run();
  return the_emulator().call_count(name) - before;
}

}  // namespace device_tests
