#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// Faults that the emulator finds in a build with a sanitizer (presets asan, tsan): each is planted
// in a hidden test, run in a process of its own, whose output must name the line.

using namespace taper::kernels::cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr int kThreads = 128;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void check_found(const std::string& test, const std::string& kind,
                 std::initializer_list<const char*> faults, const std::string& settings = "") {
  const std::string output = output_of(test, settings);
  CAPTURE(test, output);
  CHECK_THAT(output, ContainsSubstring(kind));
  for (const char* fault : faults) {
    CHECK_THAT(output, ContainsSubstring(place_of(__FILE__, fault)));
  }
}
#endif

// Nothing else in the processes that are to fail: no checks, no cleaning up.
template <class T>
T* allocate(size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return static_cast<T*>(memory);
}

template <class... P, class... A>
void run(void (*kernel)(P...), int blocks, int threads, size_t shared, A... args) {
  CHECK(launch(cudaStream_t{}, kernel, dim3(unsigned(blocks)), dim3(unsigned(threads)), shared,
               args...)
            .ok());
  cudaDeviceSynchronize();
}

// ---- Address sanitizer --------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreads) past_the_end(float* out, int count) {
  const int t = static_cast<int>(threadIdx.x);
  if (t <= count) out[t] = 1;  // FAULT: global out of bounds
}

__global__ void __launch_bounds__(kThreads) past_dynamic(float* out) {
  TAPER_DYNAMIC_SHARED(float, values);
  values[threadIdx.x] = 1;  // FAULT: dynamic shared out of bounds
  out[threadIdx.x] = values[0];
}

__global__ void __launch_bounds__(kThreads) past_shared(float* out, int offset) {
  TAPER_SHARED(float, values, [kThreads]);
  float* const shifted = values + offset;
  shifted[threadIdx.x] = 1;  // FAULT: shared out of bounds
  out[threadIdx.x] = values[0];
}

__global__ void __launch_bounds__(kThreads) misaligned(float4* out, const float* in, int offset) {
  out[threadIdx.x] = *reinterpret_cast<const float4*>(in + offset);  // FAULT: misaligned
}

// ---- Thread sanitizer ---------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreads) no_barrier(float* out, const float* in) {
  TAPER_SHARED(float, values, [kThreads]);
  values[threadIdx.x] = in[threadIdx.x];                    // FAULT: written before
  out[threadIdx.x] = values[(threadIdx.x + 1) % kThreads];  // FAULT: read without barrier
}

__global__ void __launch_bounds__(kThreads) no_second_barrier(float* out, const float* in) {
  TAPER_SHARED(float, parts, [4]);
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x % 32 == 0) {
      parts[threadIdx.x / 32] = in[threadIdx.x] + round;  // FAULT: written again
    }
    __syncthreads();
    out[threadIdx.x] = parts[0] + parts[3];  // FAULT: perhaps still reading
  }
}

__global__ void __launch_bounds__(32) no_warp_barrier(float* out, const float* in) {
  TAPER_SHARED(float, values, [32]);
  values[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = values[31 - threadIdx.x];  // FAULT: missing syncwarp
}

__global__ void __launch_bounds__(32) all_blocks_add(float* out, const float* in) {
  if (threadIdx.x == 0) out[0] += in[0];  // FAULT: race between blocks
}

__global__ void __launch_bounds__(32) writes(float* out) {
  out[threadIdx.x] = 1;  // FAULT: first stream writes
}
__global__ void __launch_bounds__(32) reads(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x] + 1;  // FAULT: second stream reads
}

}  // namespace

TEST_CASE("global out of bounds", "[.child]") {
  run(past_the_end, 1, kThreads, 0, allocate<float>(64), 64);
}
TEST_CASE("dynamic shared out of bounds", "[.child]") {
  run(past_dynamic, 1, kThreads, 127 * sizeof(float), allocate<float>(kThreads));
}
TEST_CASE("shared out of bounds", "[.child]") {
  run(past_shared, 1, kThreads, 0, allocate<float>(kThreads), 1);
}
TEST_CASE("misaligned access", "[.child]") {
  run(misaligned, 1, 1, 0, allocate<float4>(kThreads), allocate<float>(kThreads), 1);
}
TEST_CASE("use after free", "[.child]") {
  float* const x = allocate<float>(kThreads);
  cudaFree(x);
  run(past_the_end, 1, kThreads, 0, x, kThreads - 1);
}
TEST_CASE("missing barrier", "[.child]") {
  run(no_barrier, 1, kThreads, 0, allocate<float>(kThreads), allocate<float>(kThreads));
}
TEST_CASE("missing second barrier", "[.child]") {
  run(no_second_barrier, 1, kThreads, 0, allocate<float>(kThreads), allocate<float>(kThreads));
}
TEST_CASE("missing warp barrier", "[.child]") {
  run(no_warp_barrier, 1, 32, 0, allocate<float>(32), allocate<float>(32));
}
TEST_CASE("race between blocks", "[.child]") {
  run(all_blocks_add, 8, 32, 0, allocate<float>(1), allocate<float>(1));
}
TEST_CASE("missing event", "[.child]") {
  float *const x = allocate<float>(32), *const y = allocate<float>(32);
  cudaDeviceSynchronize();
  cudaStream_t first = nullptr, second = nullptr;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  CHECK(launch(first, writes, dim3(1), dim3(32), 0, x).ok());
  CHECK(launch(second, reads, dim3(1), dim3(32), 0, y, x).ok());
  cudaDeviceSynchronize();
}
TEST_CASE("early reuse of pinned memory", "[.child]") {
  float* const x = allocate<float>(1024);
  void* memory = nullptr;
  cudaMallocHost(&memory, 4096);
  auto* const pinned = static_cast<float*>(memory);
  for (int i = 0; i < 1024; ++i) pinned[i] = 1;
  cudaMemcpyAsync(x, pinned, 4096, cudaMemcpyHostToDevice, nullptr);
  pinned[7] = 2;  // FAULT: early reuse
  cudaDeviceSynchronize();
}
TEST_CASE("result read before it is there", "[.child]") {
  float* const x = allocate<float>(1024);
  void* memory = nullptr;
  cudaMallocHost(&memory, 4096);
  auto* const pinned = static_cast<float*>(memory);
  cudaMemcpyAsync(pinned, x, 4096, cudaMemcpyDeviceToHost, nullptr);
  const volatile float sum = pinned[7] + 1;  // FAULT: early read
  CHECK(sum == sum);
  cudaDeviceSynchronize();
}

#if defined(__SANITIZE_ADDRESS__)

TEST_CASE("Accesses out of bounds and out of line are found") {
  check_found("global out of bounds", "use-after-poison", {"global out of bounds"});
  check_found("dynamic shared out of bounds", "use-after-poison", {"dynamic shared out of bounds"});
  check_found("shared out of bounds", "use-after-poison", {"shared out of bounds"});
  check_found("misaligned access", "misaligned", {"misaligned"});
  check_found("use after free", "use-after-poison", {"global out of bounds"});
}

#elif defined(__SANITIZE_THREAD__)

TEST_CASE("Races in blocks, between blocks and between streams are found") {
  for (const std::string order : {"", "seed=1"}) {
    CAPTURE(order);
    check_found("missing barrier", "data race", {"written before", "read without barrier"}, order);
    check_found("missing second barrier", "data race", {"written again", "perhaps still reading"},
                order);
    check_found("missing warp barrier", "data race", {"missing syncwarp"}, order);
    check_found("race between blocks", "data race", {"race between blocks"}, order);
    check_found("missing event", "data race", {"first stream writes", "second stream reads"},
                order);
  }
  check_found("early reuse of pinned memory", "data race", {"early reuse"});
  check_found("result read before it is there", "data race", {"early read"});
}

#endif
