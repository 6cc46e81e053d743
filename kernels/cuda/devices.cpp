#include <cstdlib>
#include <string>

#include "taper/kernels/cuda/blas.h"
#include "taper/kernels/cuda/device_guard.h"
#include "taper/kernels/cuda/dnn.h"
#include "taper/kernels/cuda/message.h"
#include "taper/kernels/cuda/runtime.h"

// Which devices there are, and if there is none, why.

namespace taper::kernels::cuda::runtime {

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return version;
}

// Why there are no devices, as a sentence without its full stop: it is told within others.
std::string reason(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver: {
      const int driver = driver_version();
      if (driver == 0) {
        return "no NVIDIA driver was found (libcuda.so.1). Hint: install the driver; in a "
               "container, start it with access to the GPUs";
      }
      return "the NVIDIA driver is too old: it supports CUDA up to " + version_text(driver) +
             ", and this Taper was built for " + version_text(CUDART_VERSION) +
             ". Hint: update the driver, or build Taper with an older toolkit";
    }
    case cudaErrorNoDevice: {
      const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
      return "the driver sees no CUDA device" +
             (visible ? " (CUDA_VISIBLE_DEVICES is \"" + std::string(visible) + "\")"
                      : std::string());
    }
    case cudaErrorStubLibrary:
      return "the libcuda.so.1 that was loaded is the toolkit's stub, not the driver. Hint: take "
             "the folder stubs out of LD_LIBRARY_PATH";
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return "the kernel's and the user's part of the NVIDIA driver do not fit together. Hint: "
             "after an update, reboot; do not use the compatibility package with this card";
    case cudaErrorSystemNotReady:
      return "the system is not ready: the fabric manager of its NVSwitches does not run";
    case cudaErrorDevicesUnavailable:
      return "the devices are busy: another process has them for itself (compute mode)";
    case cudaErrorInitializationError:
      return std::string("CUDA could not be initialised: ") + cudaGetErrorString(error) + kForkHint;
    default:
      return std::string("CUDA could not be initialised: ") + cudaGetErrorName(error) + ": " +
             cudaGetErrorString(error);
  }
}

}  // namespace

Status device_count(int* count) {
  *count = 0;
  const cudaError_t error = cudaGetDeviceCount(count);
  if (error == cudaSuccess && *count > 0) return {};
  cudaGetLastError();
  *count = 0;
  const cudaError_t why = error == cudaSuccess ? cudaErrorNoDevice : error;
  return {Code::kDeviceError, why, 0, keep(reason(why))};
}

Status properties(int device, DeviceProperties* properties) {
  const DeviceProperties* found = nullptr;
  TAPER_TRY(find_properties(device, &found));
  *properties = *found;
  return {};
}

// Opens cuBLAS and cuDNN, for want of another way to ask.
Status versions(DeviceVersions* versions) {
  *versions = {.driver = driver_version(),
               .runtime = 0,
               .blas = blas_version(),
               .dnn = dnn_version(),
               .blas_problem = blas_problem().c_str(),
               .dnn_problem = dnn_problem().c_str()};
  TAPER_CUDA_TRY(cudaRuntimeGetVersion(&versions->runtime));
  return {};
}

Status can_access_peer(int device, int peer, bool* answer) {
  *answer = false;
  int can = 0;
  TAPER_CUDA_TRY(cudaDeviceCanAccessPeer(&can, device, peer));
  *answer = can != 0;
  return {};
}

Status set_device(int device, bool only_if_used) {
  if (only_if_used && !has_context(device)) return {};
  TAPER_CUDA_TRY(cudaSetDevice(device));
  return {};
}

}  // namespace taper::kernels::cuda::runtime
