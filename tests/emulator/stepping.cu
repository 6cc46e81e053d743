#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// The kernel of the session in docs/emulator.md, compiled with debugging information in every
// build.

using taper::kernels::cuda::launch;

namespace {

__global__ void __launch_bounds__(8) running_sum(int* out, const int* in) {
  TAPER_SHARED(int, values, [8]);
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[t];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i <= t; ++i) sum += values[i];
  out[t] = sum;
}

}  // namespace

TEST_CASE("running sum") {
  Emulator emulator;
  const Buffer<int> in(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}), out(size_t{8});
  REQUIRE(launch(cudaStream_t{}, running_sum, dim3(1), dim3(8), 0, out, in).ok());
  CHECK(out.values() == std::vector<int>{1, 3, 6, 10, 15, 21, 28, 36});
}
