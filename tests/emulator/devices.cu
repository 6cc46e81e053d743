#include <thread>

#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// Several devices, errors that stay, injected failures.

using Catch::Matchers::ContainsSubstring;
using taper::emulator::inject;
using taper::emulator::last_report;
using taper::kernels::cuda::launch;

namespace {

__global__ void __launch_bounds__(32) add(int* out, const int* in, int amount) {
  out[threadIdx.x] = in[threadIdx.x] + amount;
}

__global__ void __launch_bounds__(32) trap() {
  if (threadIdx.x == 7) __trap();
}

}  // namespace

TEST_CASE("Devices have memory, streams and a place in each thread of their own") {
  Emulator emulator("devices=3,memory=64M");
  int count = 0, device = -1, value = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  CHECK(count == 3);
  CHECK_CUDA_ERROR(cudaErrorInvalidDevice, cudaSetDevice(3));
  CHECK_CUDA_ERROR(cudaErrorInvalidDevice, cudaSetDevice(-1));
  CHECK_CUDA(cudaSetDevice(2));
  std::thread([&] { cudaGetDevice(&device); }).join();
  CHECK(device == 0);
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK(device == 2);
  CHECK_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 1));
  CHECK(value == 9);
  cudaDeviceProp properties{};
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 1));
  CHECK(properties.totalGlobalMem == 64 << 20);
  CHECK_THAT(properties.name, ContainsSubstring("emulator"));
  CHECK_CUDA_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 3));

  Buffer<int> on_two(std::vector<int>(32, 5));
  CHECK_CUDA(cudaSetDevice(1));
  Buffer<int> on_one(std::vector<int>(32, 0));
  CHECK_CUDA(cudaSetDevice(0));
  CHECK_CUDA(cudaMemcpyPeerAsync(on_one, 1, on_two, 2, on_one.bytes(), nullptr));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(on_one.values()[4] == 5);
  CHECK_CUDA_ERROR(cudaErrorInvalidValue,
                   cudaMemcpyPeerAsync(on_one, 0, on_two, 2, on_one.bytes(), nullptr));
  cudaGetLastError();
}

TEST_CASE("Peer access is switched on and off") {
  Emulator emulator("devices=2");
  int can = -1;
  CHECK_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  CHECK_CUDA(cudaDeviceCanAccessPeer(&can, 0, 0));
  CHECK(can == 0);
  CHECK_CUDA_ERROR(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
  CHECK_CUDA(cudaDeviceEnablePeerAccess(1, 0));
  CHECK_CUDA_ERROR(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
  CHECK_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
  CHECK_CUDA(cudaDeviceDisablePeerAccess(1));
  cudaGetLastError();
}

TEST_CASE("A fault stays with its device until that is reset") {
  Emulator emulator("devices=2");
  Buffer<int> a(std::vector<int>(32, 1));
  CHECK(launch(cudaStream_t{}, trap, dim3(1), dim3(32), 0).ok());  // it fails later
  CHECK_CUDA_ERROR(cudaErrorLaunchFailure, cudaDeviceSynchronize());
  CHECK_CUDA_ERROR(cudaErrorLaunchFailure, cudaGetLastError());
  CHECK_CUDA_ERROR(cudaErrorLaunchFailure, cudaGetLastError());  // again: it is not cleared
  CHECK_CUDA_ERROR(cudaErrorLaunchFailure, cudaMemset(a, 0, 4));
  CHECK_FALSE(launch(cudaStream_t{}, trap, dim3(1), dim3(32), 0).ok());
  CHECK_THAT(cudaGetErrorString(cudaErrorLaunchFailure),
             ContainsSubstring("__trap at") && ContainsSubstring("thread (7,0,0)"));

  CHECK_CUDA(cudaSetDevice(1));  // the other one is well
  CHECK_CUDA(cudaDeviceSynchronize());
  {
    Buffer<int> b(std::vector<int>(32, 1));
    CHECK(b.values()[0] == 1);
  }
  CHECK_CUDA(cudaSetDevice(0));
  CHECK_CUDA(cudaDeviceReset());
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(launch(cudaStream_t{}, add, dim3(1), dim3(32), 0, a, a, 1).ok());
  CHECK(a.values()[3] == 2);
}

TEST_CASE("The n-th call of a function fails as asked") {
  Emulator emulator("fail=cudaMalloc:2,fail=cudaStreamCreateWithFlags:1:999");
  void *first = nullptr, *second = nullptr;
  CHECK_CUDA(cudaMalloc(&first, 16));
  CHECK_CUDA_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&second, 16));
  CHECK(second == nullptr);
  CHECK_CUDA(cudaMalloc(&second, 16));
  cudaStream_t stream = nullptr;
  CHECK_CUDA_ERROR(cudaErrorUnknown, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaFree(first));
  inject("cudaMemcpyAsync", 2);
  int host = 3;
  CHECK_CUDA(cudaMemcpyAsync(second, &host, 4, cudaMemcpyHostToDevice, nullptr));
  CHECK_CUDA_ERROR(cudaErrorUnknown,
                   cudaMemcpyAsync(second, &host, 4, cudaMemcpyHostToDevice, nullptr));
  CHECK_CUDA(cudaMemcpyAsync(second, &host, 4, cudaMemcpyHostToDevice, nullptr));
  inject("cudaLaunchKernel", 1, cudaErrorLaunchOutOfResources);
  const auto status = launch(cudaStream_t{}, add, dim3(1), dim3(1), 0, static_cast<int*>(second),
                             static_cast<int*>(second), 1);
  CHECK_THAT(status.what, ContainsSubstring("cudaErrorLaunchOutOfResources"));
  CHECK_CUDA(cudaFree(second));
  cudaGetLastError();
}

TEST_CASE("A trap that was asked for leaves the device unusable, as a real one does") {
  Emulator emulator("fail=cudaMemsetAsync:2:700");
  Buffer<int> a(size_t{32});
  CHECK_CUDA(cudaMemsetAsync(a, 0, a.bytes(), nullptr));
  CHECK_CUDA_ERROR(cudaErrorIllegalAddress, cudaMemsetAsync(a, 0, a.bytes(), nullptr));
  CHECK_CUDA_ERROR(cudaErrorIllegalAddress, cudaMemsetAsync(a, 0, a.bytes(), nullptr));
  CHECK_CUDA_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  CHECK_THAT(cudaGetErrorString(cudaErrorIllegalAddress),
             ContainsSubstring("the failure that was asked for, in cudaMemsetAsync"));
  CHECK_CUDA(cudaDeviceReset());
  CHECK_CUDA(cudaDeviceSynchronize());
  cudaGetLastError();
}

TEST_CASE("A device that is lost answers nothing any more, and nothing hangs or leaks") {
  Emulator emulator("streams=deferred");
  inject("device", 3);
  OwnStream stream;
  OwnEvent event;
  Buffer<int> a(size_t{32});
  CHECK_CUDA(cudaMemsetAsync(a, 0, a.bytes(), stream));
  for (int i = 0; i < 4; ++i)
    CHECK(launch(cudaStream_t(stream), add, dim3(1), dim3(32), 0, a, a, 1).ok());
  CHECK_CUDA(cudaEventRecord(event, stream));
  CHECK_CUDA_ERROR(cudaErrorDevicesUnavailable, cudaStreamSynchronize(stream));
  CHECK_CUDA_ERROR(cudaErrorDevicesUnavailable, cudaEventSynchronize(event));
  CHECK_CUDA_ERROR(cudaErrorDevicesUnavailable, cudaMemset(a, 0, 4));
  CHECK_THAT(last_report(),
             ContainsSubstring("the device is lost") && ContainsSubstring("devices.cu:"));
}
