#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "device.h"
#include "taper/kernels/emulator/control.h"

// For tests that ask the emulator, or make it fail.

namespace device_tests {

/// The emulator in the plugin that the library has loaded.
const emulator::Control& the_emulator();

/// How often a function of the runtime was called (or the host waited) during `run`.
inline int64_t count_calls(const char* name, const std::function<void()>& run) {
  const int64_t before = the_emulator().call_count(name);
  run();
  return the_emulator().call_count(name) - before;
}

}  // namespace device_tests
