#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// Capture, and what is illegal during it.

using Catch::Matchers::ContainsSubstring;
using taper::emulator::last_report;
using taper::kernels::cuda::launch;

namespace {

__global__ void __launch_bounds__(32) add(int* out, const int* in, int amount) {
  out[threadIdx.x] = in[threadIdx.x] + amount;
}

void launch_add(cudaStream_t stream, int* out, const int* in, int amount) {
  REQUIRE(launch(stream, add, dim3(1), dim3(32), 0, out, in, amount).ok());
}

std::string here(int line) { return "graphs.cu:" + std::to_string(line); }

cudaStreamCaptureStatus status_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  CHECK_CUDA(cudaStreamIsCapturing(stream, &status));
  return status;
}

// What a capture yields in which `body` does something.
template <class Body>
cudaError_t capture_of(cudaStream_t stream, cudaStreamCaptureMode mode, Body body) {
  CHECK_CUDA(cudaStreamBeginCapture(stream, mode));
  body();
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(stream, &graph);
  CHECK((graph == nullptr) == (error != cudaSuccess));
  if (graph) cudaGraphDestroy(graph);
  CHECK(status_of(stream) == cudaStreamCaptureStatusNone);
  cudaGetLastError();
  return error;
}

}  // namespace

TEST_CASE("A captured graph runs when it is launched, in an order that its edges allow") {
  for (int seed = 0; seed <= 20; ++seed) {
    Emulator emulator("seed=" + std::to_string(seed));
    OwnStream first, second;
    OwnEvent fork, join;
    Buffer<int> a(std::vector<int>(32, 1)), b(std::vector<int>(32, 0)), c(std::vector<int>(32, 0));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    CHECK_CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    CHECK(status_of(first) == cudaStreamCaptureStatusActive);
    launch_add(first, b, a, 10);
    CHECK_CUDA(cudaEventRecord(fork, first));
    CHECK_CUDA(cudaStreamWaitEvent(second, fork, 0));
    CHECK(status_of(second) == cudaStreamCaptureStatusActive);
    launch_add(second, c, b, 100);
    CHECK_CUDA(cudaEventRecord(join, second));
    launch_add(first, a, a, 1);
    CHECK_CUDA(cudaStreamWaitEvent(first, join, 0));
    launch_add(first, c, c, 1000);
    CHECK_CUDA(cudaStreamEndCapture(first, &graph));
    CHECK(status_of(second) == cudaStreamCaptureStatusNone);
    CHECK(c.values()[3] == 0);  // nothing has run

    size_t nodes = 0;
    CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 4);
    CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaGraphLaunch(executable, first));
    CHECK_CUDA(cudaGraphLaunch(executable, first));
    CHECK_CUDA(cudaGraphExecDestroy(executable));
    CHECK_CUDA(cudaStreamSynchronize(first));
    CHECK(a.values()[3] == 3);
    CHECK(c.values()[3] == 1112);
  }
}

TEST_CASE("What would disturb a capture is refused, and spoils it") {
  Emulator emulator;
  OwnStream stream, other;
  OwnEvent event;
  Buffer<int> a(size_t{32});
  void* memory = nullptr;
  int line = 0;
  const auto spoilt = [&](auto call) {
    return capture_of(stream, cudaStreamCaptureModeGlobal, [&] {
      CHECK_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, call());
      CHECK_THAT(last_report(), ContainsSubstring(here(line)));
      CHECK(status_of(stream) == cudaStreamCaptureStatusInvalidated);
    });
  };
#define SPOILT(call) (line = __LINE__, spoilt([&] { return call; }))
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, SPOILT(cudaMalloc(&memory, 16)));
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, SPOILT(cudaFree(a.data())));
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, SPOILT(cudaMallocHost(&memory, 16)));
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, SPOILT(cudaDeviceSynchronize()));
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, SPOILT(cudaStreamSynchronize(stream)));
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, SPOILT(cudaStreamQuery(stream)));
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, SPOILT(cudaMemset(a, 0, 4)));
#undef SPOILT
  // Another stream may be waited for, as long as this one is not.
  CHECK_CUDA(capture_of(stream, cudaStreamCaptureModeGlobal,
                        [&] { CHECK_CUDA(cudaStreamSynchronize(other)); }));
}

TEST_CASE("The legacy stream cannot be used while a blocking stream is captured") {
  Emulator emulator;
  OwnStream unrelated;
  Buffer<int> a(size_t{32});
  cudaStream_t blocking = nullptr;
  cudaStreamCaptureStatus status{};
  CHECK_CUDA(cudaStreamCreate(&blocking));
  const auto spoilt = [&](auto call) {
    return capture_of(blocking, cudaStreamCaptureModeRelaxed, [&] {
      CHECK_CUDA_ERROR(cudaErrorStreamCaptureImplicit, call());
      CHECK(status_of(blocking) == cudaStreamCaptureStatusInvalidated);
    });
  };
#define SPOILT(call) \
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, spoilt([&] { return call; }))
  SPOILT(cudaStreamQuery(nullptr));
  SPOILT(cudaStreamSynchronize(nullptr));
  SPOILT(cudaMemsetAsync(a, 0, 4, nullptr));
#undef SPOILT
  // Whether it is captured may be asked, and is not answered.
  CHECK_CUDA(capture_of(blocking, cudaStreamCaptureModeRelaxed, [&] {
    CHECK_CUDA_ERROR(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(nullptr, &status));
    CHECK(status_of(blocking) == cudaStreamCaptureStatusActive);
  }));
  CHECK_CUDA(capture_of(unrelated, cudaStreamCaptureModeRelaxed, [&] {
    CHECK_CUDA(cudaStreamQuery(nullptr));
    CHECK(status_of(nullptr) == cudaStreamCaptureStatusNone);
  }));
  CHECK_CUDA(cudaStreamDestroy(blocking));
}

TEST_CASE("Relaxed captures and relaxed threads may allocate") {
  Emulator emulator;
  OwnStream stream;
  void* memory = nullptr;
  CHECK_CUDA(capture_of(stream, cudaStreamCaptureModeRelaxed,
                        [&] { CHECK_CUDA(cudaMalloc(&memory, 16)); }));
  CHECK_CUDA(cudaFree(memory));
  CHECK_CUDA(capture_of(stream, cudaStreamCaptureModeGlobal, [&] {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK_CUDA(cudaMalloc(&memory, 16));
    CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeRelaxed);
  }));
  CHECK_CUDA(cudaFree(memory));
}

TEST_CASE("A capture must come together again, and stay by itself") {
  Emulator emulator;
  OwnStream first, second;
  OwnEvent event, outside;
  Buffer<int> a(size_t{32});
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureUnjoined,
                   capture_of(first, cudaStreamCaptureModeGlobal, [&] {
                     launch_add(first, a, a, 1);
                     CHECK_CUDA(cudaEventRecord(event, first));
                     CHECK_CUDA(cudaStreamWaitEvent(second, event, 0));
                     launch_add(second, a, a, 1);
                   }));
  CHECK_CUDA(cudaEventRecord(outside, second));
  CHECK_CUDA_ERROR(
      cudaErrorStreamCaptureInvalidated, capture_of(first, cudaStreamCaptureModeGlobal, [&] {
        CHECK_CUDA_ERROR(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(first, outside, 0));
      }));
  CHECK_CUDA_ERROR(cudaErrorStreamCaptureUnsupported,
                   cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  cudaGraph_t graph = nullptr;
  CHECK_CUDA_ERROR(cudaErrorIllegalState, cudaStreamEndCapture(first, &graph));
  cudaGetLastError();
}
