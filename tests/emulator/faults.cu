#include <algorithm>
#include <cmath>

#include "support.h"
#include "taper/kernels/cuda/device/ptx.cuh"

// Faults planted in kernels and in calls, which the emulator must report with file and line. A line
// with a fault ends in its name. Here is what any build finds; sanitizers.cu has the rest.

using taper::emulator::last_report;
using namespace taper::kernels::cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr int kThreads = 128;

std::string place(const char* name) { return place_of(__FILE__, name); }

/// Runs a faulty kernel on float buffers of kThreads numbers; the error, whose text is the report.
template <class... P, class... A>
cudaError_t run(void (*kernel)(float*, const float*, P...), int threads, A... args) {
  std::vector<float> numbers(kThreads);
  for (int i = 0; i < kThreads; ++i) numbers[size_t(i)] = float(i);
  const Buffer<float> out(std::vector<float>(kThreads, 0)), in(numbers);
  const auto status = launch(cudaStream_t{}, kernel, dim3(1), dim3(unsigned(threads)), 0,
                             out.data(), static_cast<const float*>(in.data()), args...);
  if (!status.ok()) return static_cast<cudaError_t>(status.value);
  return cudaDeviceSynchronize();
}

// ---- Barriers and warp operations ---------------------------------------------------------------

__global__ void __launch_bounds__(kThreads) divergent(float* out, const float* in) {
  if (in[threadIdx.x] < 64) {
    __syncthreads();  // FAULT: first barrier
  } else {
    __syncthreads();  // FAULT: second barrier
  }
  out[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(kThreads) waits_for_all(float* out, const float* in) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = __shfl_sync(0xffffffffu, in[threadIdx.x], 0);
    if (threadIdx.x == 0) __syncwarp();  // FAULT: deadlocked warp
    __syncthreads();
  } else {
    __syncthreads();  // FAULT: deadlocked block
  }
}

__global__ void __launch_bounds__(kThreads) early_return(float* out, const float* in, int count) {
  if (static_cast<int>(threadIdx.x) >= count) return;
  out[threadIdx.x] = __shfl_down_sync(0xffffffffu, in[threadIdx.x], 1);  // FAULT: early return
}

__global__ void __launch_bounds__(kThreads) half_a_warp(float* out, const float* in) {
  if (threadIdx.x % 32 >= 16) return;
  out[threadIdx.x] = __shfl_sync(0xffff0000u, in[threadIdx.x], 16);  // FAULT: mask without caller
}

__global__ void __launch_bounds__(kThreads) outside_mask(float* out, const float* in) {
  if (threadIdx.x % 32 < 16) {
    out[threadIdx.x] = __shfl_sync(0x0000ffffu, in[threadIdx.x], 20);  // FAULT: source outside mask
  }
}

__global__ void __launch_bounds__(kThreads) overlapping(float* out, const float* in) {
  const unsigned mask = threadIdx.x % 32 < 20 ? 0x000fffffu : 0xfff80000u;
  out[threadIdx.x] = __shfl_xor_sync(mask, in[threadIdx.x], 1);  // FAULT: overlapping masks
}

__global__ void __launch_bounds__(kThreads) trapped(float*, const float* in) {
  if (in[threadIdx.x] == 77) __trap();  // FAULT: trap
}

// ---- Shared memory ------------------------------------------------------------------------------

[[maybe_unused]] __global__ void __launch_bounds__(kThreads)
    neighbour(float* out, const float* in) {
  TAPER_SHARED(float, values, [kThreads]);
  values[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = 1 + values[(threadIdx.x + 1) % kThreads];  // no barrier before
}

__global__ void __launch_bounds__(kThreads) one_missing(float* out, const float* in) {
  TAPER_SHARED(float, values, [kThreads]);
  if (threadIdx.x != 100) values[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = 2 * values[threadIdx.x];  // FAULT: shared float that nobody wrote
}

__global__ void __launch_bounds__(kThreads) too_much(float* out, const float*) {
  TAPER_SHARED(float, first, [8000]);
  first[threadIdx.x] = 1;
  TAPER_SHARED(float, second, [8000]);  // FAULT: too much static shared memory
  second[threadIdx.x] = 1;
  out[threadIdx.x] = first[0] + second[0];
}

[[maybe_unused]] __global__ void __launch_bounds__(kThreads)
    reads_before_wait(float* out, const float* in) {
  TAPER_SHARED(float4, tile, [kThreads / 4]);
  const unsigned t = threadIdx.x;
  if (t < kThreads / 4) cp_async<16>(&tile[t], in + 4 * t);
  cp_async_commit();
  __syncthreads();
  out[t] = 1 + (&tile[0].x)[t];  // FAULT: read before wait
  cp_async_wait<0>();
}

__global__ void __launch_bounds__(kThreads) never_waits(float*, const float* in) {
  TAPER_SHARED(float4, tile, [1]);
  if (threadIdx.x == 3) cp_async<16>(&tile[0], in);  // FAULT: copy without wait
}

__global__ void __launch_bounds__(kThreads) odd_address(float*, const float* in) {
  TAPER_SHARED(float4, tile, [1]);
  if (threadIdx.x == 3) cp_async<16>(&tile[0], in + 1);  // FAULT: copy not aligned
  cp_async_commit();
  cp_async_wait<0>();
}

__global__ void __launch_bounds__(kThreads) odd_row(float*, const float*) {
  TAPER_SHARED(uint16_t, tile, [32][20]);  // rows of 40 bytes
  uint32_t r[4];
  ldmatrix(r, &tile[threadIdx.x % 32][0]);  // FAULT: row not aligned
}

// ---- Device memory ------------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreads) doubles_it(float* out, const float* in) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  // FAULT: float that nobody wrote
}
__global__ void __launch_bounds__(kThreads) copies_it(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x];
}
__global__ void __launch_bounds__(kThreads) adds_doubles(double* out, const double* in) {
  out[threadIdx.x] = in[threadIdx.x] + 1;  // FAULT: double that nobody wrote
}

__global__ void __launch_bounds__(kThreads)
    adds_all(float* out, const float* in, const float* more, const float* end) {
  float sum = in[threadIdx.x];
  for (; more != end; ++more) sum += *more;
  out[threadIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreads) does_nothing() {}

/// As a test's main part: the kernel must fail, and the report have all of these.
template <class... P, class... A>
void check_fault(const std::string& settings, std::initializer_list<std::string> wanted,
                 void (*kernel)(float*, const float*, P...), A... args) {
  for (const std::string order : {"", "seed=1", "seed=2"}) {
    CAPTURE(order);
    Emulator emulator(settings + order);
    CHECK_CUDA_ERROR(cudaErrorLaunchFailure, run(kernel, kThreads, args...));
    const std::string report = cudaGetErrorString(cudaErrorLaunchFailure);
    for (const std::string& text : wanted) CHECK_THAT(report, ContainsSubstring(text));
    CHECK_THAT(report, ContainsSubstring("faults.cu:"));  // the launch
    CHECK_CUDA(cudaDeviceReset());
    CHECK_CUDA(run(doubles_it, kThreads));  // and all is well again
  }
}

}  // namespace

TEST_CASE("Faults at barriers are reported") {
  check_fault("", {"divergent barrier", place("first barrier"), place("second barrier")},
              divergent);
}

TEST_CASE("A deadlock is reported with who waits where") {
  Emulator emulator;
  CHECK_CUDA_ERROR(cudaErrorLaunchFailure, run(waits_for_all, kThreads));
  const std::string report = last_report();
  CHECK_THAT(report, ContainsSubstring(place("deadlocked warp")) ||
                         ContainsSubstring(place("deadlocked block")));
  cudaDeviceReset();
}

TEST_CASE("Faults of warp operations are reported") {
  check_fault("", {"__shfl_down_sync", place("early return")}, early_return, 100);
  check_fault("", {"does not name the lane that calls", place("mask without caller")}, half_a_warp);
  check_fault("", {"reads a lane that the mask does not name", place("source outside mask")},
              outside_mask);
  check_fault("", {"with mask", place("overlapping masks")}, overlapping);
  check_fault("", {"__trap", "thread (77,0,0)", place("trap")}, trapped);
}

TEST_CASE("Faults of shared memory are reported") {
  check_fault("", {"\"second\"", "64000 bytes", place("too much static shared memory")}, too_much);
#if !defined(__SANITIZE_THREAD__)  // which would report the race first
  check_fault("uninitialized=on,", {"computed with memory that nobody has written", "float"},
              neighbour);
#endif
  check_fault("uninitialized=on,",
              {"computed with memory that nobody has written", "byte 400",
               "first by thread (100,0,0)", place("shared float that nobody wrote")},
              one_missing);
}

TEST_CASE("Faults of asynchronous copies are reported") {
#if !defined(__SANITIZE_THREAD__)
  check_fault("uninitialized=on,",
              {"computed with memory that nobody has written", place("read before wait")},
              reads_before_wait);
#endif
  check_fault("", {"without having waited", place("copy without wait")}, never_waits);
  check_fault("", {"not aligned", "thread (3,0,0)", place("copy not aligned")}, odd_address);
  check_fault("", {"16-byte aligned", place("row not aligned")}, odd_row);
}

TEST_CASE("Arithmetic on device memory that nobody wrote is reported, a copy of it is not") {
  Emulator emulator("uninitialized=on");
  const Buffer<float> in(size_t{kThreads}), out(size_t{kThreads});
  const Buffer<double> doubles(size_t{kThreads});
  REQUIRE(launch(cudaStream_t{}, copies_it, dim3(1), dim3(kThreads), 0, out, in).ok());
  CHECK_CUDA(cudaDeviceSynchronize());
  const int line = __LINE__ + 1;
  REQUIRE(launch(cudaStream_t{}, doubles_it, dim3(1), dim3(kThreads), 0, out, in).ok());
  CHECK_CUDA_ERROR(cudaErrorLaunchFailure, cudaDeviceSynchronize());
  CHECK_THAT(last_report(), ContainsSubstring("the float at byte 0 of the 512 allocated at") &&
                                ContainsSubstring("faults.cu:" + std::to_string(line)));
  CHECK_THAT(last_report(), ContainsSubstring("first by thread (0,0,0) of block (0,0,0) at ") &&
                                ContainsSubstring(place("float that nobody wrote")));
  CHECK_CUDA(cudaDeviceReset());
  CHECK_CUDA(cudaMemset(out, 0, out.bytes()));
  REQUIRE(launch(cudaStream_t{}, adds_doubles, dim3(1), dim3(kThreads), 0, doubles, doubles).ok());
  CHECK_CUDA_ERROR(cudaErrorLaunchFailure, cudaDeviceSynchronize());
  CHECK_THAT(last_report(), ContainsSubstring("the double at byte 0 of the 1024") &&
                                ContainsSubstring(place("double that nobody wrote")));
}

TEST_CASE("A kernel that is given memory of the host is reported") {
  const std::vector<float> heap(kThreads, 1);
  const float stack[kThreads] = {};
  for (const float* memory : {heap.data(), heap.data() + 100, stack}) {
    check_fault("", {"argument 3 is memory of the host, and not pinned", "in adds_all called at"},
                adds_all, memory, memory);
  }
}

TEST_CASE("A kernel may be given pinned memory, its end, and no memory") {
  Emulator emulator;
  std::vector<float> registered(kThreads, 1);
  CHECK_CUDA(cudaHostRegister(registered.data(), kThreads * sizeof(float), 0));
  float* pinned = nullptr;
  CHECK_CUDA(cudaMallocHost(reinterpret_cast<void**>(&pinned), kThreads * sizeof(float)));
  std::fill_n(pinned, kThreads, 1.f);
  for (const float* memory : {registered.data(), pinned}) {
    CHECK_CUDA(run(adds_all, kThreads, memory, memory + kThreads));
  }
  const float* const none = nullptr;
  CHECK_CUDA(run(adds_all, kThreads, none, none));
  CHECK_CUDA(cudaHostUnregister(registered.data()));
  CHECK_CUDA(cudaFreeHost(pinned));
}

TEST_CASE("Wrong launch configurations are reported") {
  Emulator emulator;
  const auto error_of = [](dim3 grid, dim3 block, size_t shared) {
    const auto status = launch(cudaStream_t{}, does_nothing, grid, block, shared);
    CHECK_THAT(status.what, ContainsSubstring("faults.cu:" + std::to_string(__LINE__ - 1)));
    return static_cast<cudaError_t>(status.value);
  };
  CHECK_CUDA_ERROR(cudaErrorInvalidConfiguration, error_of(dim3(1), dim3(1025), 0));
  CHECK_THAT(last_report(), ContainsSubstring("a block of (1025,1,1) threads"));
  CHECK_CUDA_ERROR(cudaErrorInvalidConfiguration, error_of(dim3(1), dim3(0), 0));
#if !defined(__clang__)  // it has no way to tell
  CHECK(launch(cudaStream_t{}, does_nothing, dim3(1), dim3(kThreads / 8, 8), 0).ok());
  CHECK_CUDA_ERROR(cudaErrorLaunchOutOfResources, error_of(dim3(1), dim3(kThreads / 8, 9), 0));
  CHECK_THAT(last_report(), ContainsSubstring("a block of (16,9,1) threads, where the kernel's "
                                              "__launch_bounds__ allow 128"));
#endif
  CHECK_CUDA_ERROR(cudaErrorInvalidConfiguration, error_of(dim3(1), dim3(1, 1, 65), 0));
  CHECK_CUDA_ERROR(cudaErrorInvalidConfiguration, error_of(dim3(0), dim3(32), 0));
  CHECK_CUDA_ERROR(cudaErrorInvalidConfiguration, error_of(dim3(1, 65536), dim3(32), 0));
  CHECK_THAT(last_report(), ContainsSubstring("a grid of (1,65536,1) blocks"));
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, error_of(dim3(1), dim3(32), 228 << 10));
  CHECK_THAT(last_report(), ContainsSubstring("a block can have 232448"));
}

TEST_CASE("A pinned buffer that is written before its copy has run is reported") {
#if !defined(__SANITIZE_THREAD__)  // sanitizers.cu
  Emulator emulator("streams=deferred");
  OwnStream stream;
  const Buffer<float> x(size_t{4});
  float* pinned = nullptr;
  CHECK_CUDA(cudaMallocHost(reinterpret_cast<void**>(&pinned), x.bytes()));
  pinned[0] = 1;
  CHECK_CUDA(cudaMemcpyAsync(x, pinned, x.bytes(), cudaMemcpyHostToDevice, stream));
  const std::string line = std::to_string(__LINE__ - 1);
  pinned[0] = 2;
  CHECK_CUDA_ERROR(cudaErrorLaunchFailure, cudaStreamSynchronize(stream));
  CHECK_THAT(last_report(), ContainsSubstring("pinned buffer was written before its copy") &&
                                ContainsSubstring("cudaMemcpyAsync called at") &&
                                ContainsSubstring("faults.cu:" + line));
  cudaDeviceReset();
  CHECK_CUDA(cudaFreeHost(pinned));
#endif
}

TEST_CASE("touches device memory from the host", "[.child]") {
  void* memory = nullptr;
  cudaMalloc(&memory, 64);                    // FAULT: last call
  *static_cast<volatile float*>(memory) = 1;  // FAULT: host access
}

#if !defined(__SANITIZE_THREAD__)  // it has opinions on Catch's handling of the signal
TEST_CASE("Host code that touches device memory is stopped") {
  const std::string output = output_of("touches device memory from the host", "protect=pages");
  CAPTURE(output);
#if defined(__SANITIZE_ADDRESS__)
  CHECK_THAT(output, ContainsSubstring("SEGV") && ContainsSubstring(place("host access")));
#else
  CHECK_THAT(output, ContainsSubstring("host code touches device memory") &&
                         ContainsSubstring("cuda:0") && ContainsSubstring(place("last call")));
#endif
}

#endif

TEST_CASE("leaves things behind", "[.child]") {
  void* memory = nullptr;
  cudaMalloc(&memory, 1234);  // FAULT: leak
  CHECK(memory);
}

TEST_CASE("With leaks=on, what is left at the end is printed") {
  const std::string output = output_of("leaves things behind", "leaks=on");
  CHECK_THAT(output, ContainsSubstring("1234 bytes on cuda:0") && ContainsSubstring(place("leak")));
}

TEST_CASE("A failure that was asked for and never came is said at the end") {
  const std::string output = output_of("leaves things behind",
                                       "fail=cudaMaloc:1,fail=cudaMalloc:2,fail=cudaStreamCreate:1,"
                                       "fail=cudaMalloc:1:999,fail=device:3");
  CHECK_THAT(output,
             ContainsSubstring("fail=cudaMaloc:1 never came: there were 0 such calls") &&
                 ContainsSubstring("fail=cudaMalloc:2 never came: there were 1 such") &&
                 ContainsSubstring("fail=device:3 never came: there were 0 pieces of work"));
  CHECK(output.find("fail=cudaMalloc:1 never") == std::string::npos);
}

TEST_CASE("asks for a device", "[.child]") {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  WARN(cudaGetErrorName(error) << ": " << cudaGetErrorString(error));
}

TEST_CASE("A wrong TAPER_EMULATOR is an error of the first call, with its reason") {
  const std::string output = output_of("asks for a device", "devices=2,colour=red");
  CHECK_THAT(output, ContainsSubstring("cudaErrorInitializationError") &&
                         ContainsSubstring("there is no setting \"colour\""));
}
