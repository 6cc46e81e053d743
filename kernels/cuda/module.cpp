#include <tuple>

#include "taper/build_id.h"
#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device_guard.h"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/runtime.h"

// What the library of CUDA kernels exports: one function, which returns the device as a module.

namespace taper::kernels::cuda {

namespace {

/// An entry of the table: the kernel, with its stream's device the current one. With
/// CUDA_LAUNCH_BLOCKING=1 it has run when this returns, and what it flagged is known.
template <auto Kernel, class... A>
Status on_its_device(A... args) {
  const Stream& stream = std::get<sizeof...(A) - 1>(std::tie(args...));
  TAPER_ON_DEVICE(stream.device);
  Status status = Kernel(args...);
  if (status.code == Code::kUnsupported) status.what = "cuda";
  if (status.ok() && launches_block()) return fault_of_this_call(stream);
  return status;
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
      .build_id = TAPER_BUILD_ID,
      .kind = kEmulated ? "emulated" : "hardware",
      .runtime = kRuntime,
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
