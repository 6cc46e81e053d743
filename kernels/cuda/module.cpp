#include <tuple>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/kernels.h"

// What the library of CUDA kernels exports: one function, which returns the device as a module.

namespace taper::kernels::cuda {

namespace {

/// Makes a device the current one of this thread while it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    error_ = cudaGetDevice(&before_);
    if (error_ == cudaSuccess && before_ != device) {
      error_ = cudaSetDevice(device);
      changed_ = error_ == cudaSuccess;
    }
  }
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  cudaError_t error() const { return error_; }

 private:
  int before_ = 0;
  bool changed_ = false;
  cudaError_t error_;
};

/// An entry of the table: the kernel, with its stream's device the current one.
template <auto Kernel, class... A>
Status on_its_device(A... args) {
  const Stream& stream = std::get<sizeof...(A) - 1>(std::tie(args...));
  const DeviceGuard guard(stream.device);
  if (guard.error() != cudaSuccess) return failed("cudaSetDevice", guard.error());
  return Kernel(args...);
}
template <auto Kernel, class... A>
constexpr auto entry(Status (*)(A...)) {
  return &on_its_device<Kernel, A...>;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const DeviceModule* taper_cuda_module(
    const HostServices*) {
  static const DeviceModule module = {
      .abi = kDeviceAbi,
      .build_id = TAPER_VERSION,
#if defined(__CUDACC__)
      .kind = "hardware",
#else
      .kind = "emulated",
#endif
      .runtime = {},
      .kernels =
          {
#define TAPER_ENTRY(name) .name = entry<&cuda::name>(&cuda::name),
              TAPER_KERNELS(TAPER_ENTRY)
#undef TAPER_ENTRY
          },
  };
  return &module;
}

}  // namespace taper::kernels::cuda
