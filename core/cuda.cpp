#include "taper/core/cuda.h"

namespace taper::cuda {

bool is_available() { return false; }
DeviceIndex device_count() { return 0; }
bool cudnn_is_available() { return false; }
void synchronize(int64_t) { taper::detail::fail_cuda_unavailable("cuda::synchronize"); }
void manual_seed(uint64_t) {}
void manual_seed_all(uint64_t) {}
std::string why_not_available() {
  return "this version of Taper has no CUDA plugin: it runs on the CPU only";
}

}  // namespace taper::cuda
