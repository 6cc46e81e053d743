#include "machine.h"

#include <cstdlib>

#include "taper/kernels/cuda/device_state.h"

namespace cuda_tests {

namespace {

// With the order that the test program was asked to run in (TAPER_EMULATOR=seed=7).
void restart(const std::string& options) {
  const char* const asked = std::getenv("TAPER_EMULATOR");
  emulator::configure((asked ? std::string(asked) + "," : "") + options);
}

}  // namespace

Machine::Machine(const std::string& options) {
  cuda::shut_down();
  restart(options);
}

Machine::~Machine() {
  CHECK(cuda_runtime().live_allocations() == 0);
  cuda::shut_down();
  CHECK(emulator::live_objects() == "");
  restart("");
}

OwnStream::OwnStream(int device, int priority) : stream_{stream_for(kCPU).host, nullptr, device} {
  require_ok(cuda_runtime().stream_create(device, priority, &stream_.handle));
}

OwnStream::~OwnStream() { CHECK(cuda_runtime().stream_destroy(stream_).ok()); }

}  // namespace cuda_tests
