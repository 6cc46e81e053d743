#include "support.h"

extern "C" const taper::kernels::DeviceModule* taper_cuda_module(
    const taper::kernels::HostServices*);

namespace cuda_tests {

namespace {

cudaStream_t own_stream() {
  static cudaStream_t stream = [] {
    cudaStream_t made = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) == cudaSuccess);
    return made;
  }();
  return stream;
}

}  // namespace

const KernelTable& cuda_table() { return taper_cuda_module(stream_for(kCPU).host)->kernels; }

Stream cuda_stream() { return Stream{stream_for(kCPU).host, own_stream(), 0}; }

void wait() {
  REQUIRE(cudaGetErrorName(cudaStreamSynchronize(own_stream())) == std::string("cudaSuccess"));
}

}  // namespace cuda_tests
