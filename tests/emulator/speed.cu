#include <algorithm>
#include <cstdio>
#include <ctime>

#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// What the emulator's own machinery costs: test_emulator "[speed]". Nothing here says anything
// about a card.

using taper::kernels::cuda::launch;

namespace {

__global__ void __launch_bounds__(1024) barriers(int count) {
  for (int i = 0; i < count; ++i) __syncthreads();
}

__global__ void __launch_bounds__(1024) shuffles(int* out, int count) {
  int value = static_cast<int>(threadIdx.x);
  for (int i = 0; i < count; ++i) value += __shfl_xor_sync(0xffffffffu, value, 1);
  if (value < 0) *out = value;
}

__global__ void __launch_bounds__(256) axpy(float* y, const float* x, float a, int count) {
  const int i = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  float4 v = *reinterpret_cast<const float4*>(x + i), w = *reinterpret_cast<float4*>(y + i);
  w = make_float4(a * v.x + w.x, a * v.y + w.y, a * v.z + w.z, a * v.w + w.w);
  *reinterpret_cast<float4*>(y + i) = w;
}

/// The best of some runs, in nanoseconds of the processor: the machine may have other work.
template <class F>
double time_of(int runs, F f) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  double best = 1e18;
  for (int i = 0; i < runs; ++i) {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  }
  return best;
}

void run_barriers(unsigned blocks, unsigned threads, int count) {
  REQUIRE(launch(cudaStream_t{}, barriers, dim3(blocks), dim3(threads), 0, count).ok());
}

}  // namespace

TEST_CASE("speed of the emulator", "[.speed]") {
  Emulator emulator("threads=1");
  std::printf("  launch of 1 x 1          %8.2f us\n",
              time_of(2000, [] { run_barriers(1, 1, 0); }) / 1e3);
  std::printf("  launch of 1 x 256        %8.2f us\n",
              time_of(2000, [] { run_barriers(1, 256, 0); }) / 1e3);
  const double blocks = time_of(5, [] { run_barriers(20000, 1, 0); });
  std::printf("  block of 1               %8.1f ns\n", blocks / 2e4);
  const double empty = time_of(9, [] { run_barriers(2000, 256, 0); });
  std::printf("  empty, blocks of 256     %8.1f M threads/s\n", 512e6 / empty);
  for (const unsigned threads : {32u, 256u, 1024u}) {
    const unsigned grid = 163840 / threads;
    const double one = time_of(5, [&] { run_barriers(grid, threads, 1); });
    const double many = time_of(5, [&] { run_barriers(grid, threads, 21); });
    std::printf("  barrier, blocks of %4u  %8.1f ns a thread\n", threads,
                (many - one) / 20 / 163840);
  }
  const Buffer<int> out(size_t{1});
  const double lanes = time_of(
      5, [&] { REQUIRE(launch(cudaStream_t{}, shuffles, dim3(640), dim3(256), 0, out, 20).ok()); });
  std::printf("  shuffle                  %8.1f ns a lane\n", lanes / 20 / 163840);
  constexpr int kCount = 4 << 20;
  const Buffer<float> x(std::vector<float>(kCount, 1)), y(std::vector<float>(kCount, 1));
  const double elements = time_of(5, [&] {
    REQUIRE(
        launch(cudaStream_t{}, axpy, dim3(kCount / 1024), dim3(256), 0, y, x, 2.0f, kCount).ok());
  });
  std::printf("  axpy, float4             %8.2f ns an element\n", elements / kCount);
}
