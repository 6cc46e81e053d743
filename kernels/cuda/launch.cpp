#include "taper/kernels/cuda/device/launch.h"

#include <cstdlib>
#include <string>

#include "taper/kernels/cuda/message.h"

namespace taper::kernels::cuda {

namespace {

bool launches_block() {
  static const bool blocking = [] {
    const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value && *value && *value != '0';
  }();
  return blocking;
}

// While a stream is captured nothing runs, and waiting for it would be an error.
cudaError_t wait_for(cudaStream_t stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error != cudaSuccess || capture != cudaStreamCaptureStatusNone) return error;
  return cudaStreamSynchronize(stream);
}

}  // namespace

Status finish_launch(cudaError_t error, const LaunchStream& stream, const void* kernel) {
  if (error == cudaSuccess && launches_block()) error = wait_for(stream.handle);
  if (error == cudaSuccess) return {};
  cudaGetLastError();  // reported here; a later call must not report it again
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) != cudaSuccess || !name) {
    cudaGetLastError();
    name = "a kernel";
  }
  return {Code::kDeviceError, error, 0,
          keep(std::string("launch of ") + name + " at " + stream.file + ":" +
               std::to_string(stream.line) + ": " + cudaGetErrorName(error) + ": " +
               cudaGetErrorString(error))};
}

}  // namespace taper::kernels::cuda
