#include "support.h"

using namespace cuda_tests;

extern "C" const DeviceModule* taper_cuda_module(const HostServices*);

TEST_CASE("the CUDA module names its contract and has every entry") {
  const DeviceModule* module = taper_cuda_module(stream_for(kCPU).host);
  CHECK(module->abi == kDeviceAbi);
  CHECK(module->kind == std::string("emulated"));
#define TAPER_CHECK_ENTRY(name)               \
  {                                           \
    INFO(#name);                              \
    CHECK((module->kernels.name != nullptr)); \
  }
  TAPER_KERNELS(TAPER_CHECK_ENTRY)
#undef TAPER_CHECK_ENTRY
}
