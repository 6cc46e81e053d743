#include "support.h"

using namespace cuda_tests;

extern "C" const DeviceModule* taper_cuda_module(const HostServices*);

TEST_CASE("the CUDA module names its contract and has every entry") {
  const DeviceModule* module = taper_cuda_module(stream_for(kCPU).host);
  CHECK(module->abi == kDeviceAbi);
#if defined(TAPER_CUDA_HARDWARE)
  CHECK(module->kind == std::string("hardware"));
#else
  CHECK(module->kind == std::string("emulated"));
#endif
#define TAPER_CHECK_ENTRY(name)               \
  {                                           \
    INFO(#name);                              \
    CHECK((module->kernels.name != nullptr)); \
  }
  TAPER_KERNELS(TAPER_CHECK_ENTRY)
#undef TAPER_CHECK_ENTRY
}
