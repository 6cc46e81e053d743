#include "taper/kernels/cuda/message.h"

#include <algorithm>
#include <cstddef>

#include "taper/kernels/cuda/device/launch.h"

namespace taper::kernels::cuda {

bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorContained:
    case cudaErrorDevicesUnavailable:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

Status failed(const char* call, cudaError_t error) {
  std::string name = call;
  name.resize(std::min(name.size(), name.find('(')));
  return failed_at(std::move(name), error);
}

namespace {

// A library has a CUDA runtime of its own, whose last error is not this one's: a call that reports
// what happened to the device is needed.
cudaError_t error_of_device() {
  cudaGetLastError();
  // While a stream is captured, the question that comes next would spoil the capture.
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(nullptr, &capture);
  if (error == cudaSuccess) error = cudaStreamQuery(nullptr);
  cudaGetLastError();
  const bool is_none = error == cudaErrorStreamCaptureImplicit || error == cudaErrorNotReady;
  return is_none ? cudaSuccess : error;
}

}  // namespace

Status library_failed(const char* call, const char* name, int status) {
  std::string what = std::string(call) + ": " + name + " (" + std::to_string(status) + ")";
  const cudaError_t error = error_of_device();
  if (error != cudaSuccess) {
    Status failure = failed_at(std::move(what), error);
    failure.value = status;
    return failure;
  }
  return {Code::kDeviceError, status, 0, keep(std::move(what))};
}

Status failed_at(std::string what, cudaError_t error) {
  cudaGetLastError();  // reported here; a later call must not report it again
  what += std::string(": ") + cudaGetErrorName(error) + ": " + cudaGetErrorString(error);
  if (is_sticky(error)) {
    const std::string launches = recent_launches();
    what +=
        "\nThe device cannot be used any more. This call only noticed it; what was launched "
        "before, the latest first:\n" +
        (launches.empty() ? "  nothing\n" : launches) +
        "Hint: with CUDA_LAUNCH_BLOCKING=1 the launch that did it reports it.";
  }
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion) {
    what +=
        ". Hint: this Taper has no machine code for the card, or was built by a newer toolkit than "
        "its driver knows; build it with -DTAPER_CUDA_ARCHITECTURES=<compute capability, as 89>";
  }
  if (error == cudaErrorInitializationError) what += kForkHint;
  if (error == cudaErrorMemoryAllocation) return {Code::kOutOfMemory, 0, 0, keep(std::move(what))};
  return {Code::kDeviceError, error, 0, keep(std::move(what))};
}

}  // namespace taper::kernels::cuda
