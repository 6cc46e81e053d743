#include <cstdio>
#include <memory>

#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// trace=FILE: what a program launches, with grid, block and line. kernels=off: without running it.

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using taper::kernels::cuda::launch;

namespace {

template <class T, int kStep>
__global__ void __launch_bounds__(64) count_up(T* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<T>(threadIdx.x) * kStep;
}

/// A file that is gone with the test.
class Trace {
 public:
  std::string setting() const {
    return "trace=/proc/self/fd/" + std::to_string(fileno(file_.get()));
  }
  /// The lines since the last call.
  std::vector<std::string> lines() {
    std::vector<std::string> found;
    char text[512];
    std::clearerr(file_.get());
    while (std::fgets(text, sizeof text, file_.get())) found.emplace_back(text);
    return found;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), &std::fclose};
};

std::string place(const char* name) { return place_of(__FILE__, name) + "\n"; }

}  // namespace

TEST_CASE("The trace has what is queued, kernels with grid and block, and the line") {
  Trace trace;
  Emulator emulator(trace.setting());
  const Buffer<float> out(256);
  const OwnStream stream;
  const OwnEvent event;
  CHECK(trace.lines().empty());
  REQUIRE(launch(stream, count_up<float, 3>, dim3(2, 2), dim3(64), 0, out).ok());  // FAULT: launch
  CHECK_CUDA(cudaEventRecord(event, stream));
  CHECK_CUDA(cudaMemsetAsync(out, 0, out.bytes(), stream));  // FAULT: set
  const std::vector<std::string> lines = trace.lines();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], StartsWith("count_up<float, 3>  grid (2,2,1)  block (64,1,1)  ") &&
                           EndsWith(place("launch")));
  CHECK_THAT(lines[1], StartsWith("cudaMemsetAsync  ") && EndsWith(place("set")));
}

TEST_CASE("A launch that is refused is not in the trace") {
  Trace trace;
  Emulator emulator(trace.setting());
  const Buffer<int> out(256);
  CHECK_FALSE(launch(cudaStream_t{}, count_up<int, 1>, dim3(1), dim3(128), 0, out).ok());
  CHECK(trace.lines().empty());
}

TEST_CASE("Kernels can be traced without being run, copies run") {
  Trace trace;
  Emulator emulator("kernels=off," + trace.setting());
  const Buffer<int> out(std::vector<int>(64, -1));
  trace.lines();
  REQUIRE(launch(cudaStream_t{}, count_up<int, 1>, dim3(1), dim3(64), 0, out).ok());
  CHECK(out.values() == std::vector<int>(64, -1));
  const std::vector<std::string> lines = trace.lines();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], StartsWith("count_up<int, 1>  grid (1,1,1)  block (64,1,1)  "));
  CHECK_THAT(lines[1], StartsWith("cudaMemcpy  "));
}
