#include "support.h"

extern "C" const taper::kernels::DeviceModule* taper_cuda_module(
    const taper::kernels::HostServices*);

namespace cuda_tests {

namespace {

const DeviceModule& module() { return *taper_cuda_module(stream_for(kCPU).host); }

}  // namespace

const KernelTable& cuda_table() { return module().kernels; }

const DeviceRuntime& cuda_runtime() { return module().runtime; }

Stream cuda_stream(int device) {
  Stream stream{stream_for(kCPU).host, nullptr, device, kTestOp};
  require_ok(cuda_runtime().default_stream(device, &stream.handle));
  return stream;
}

void wait() { require_ok(cuda_runtime().stream_synchronize(cuda_stream())); }

}  // namespace cuda_tests
