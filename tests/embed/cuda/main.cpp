#include <taper/core/cuda.h>
#include <taper/taper.h>

#include <cstdio>

int main() {
  if (!taper::cuda::is_available()) {
    std::printf("no CUDA device: %s\n", taper::cuda::why_not_available().c_str());
    return 1;
  }
  const taper::Tensor a = taper::ones({4, 4}, taper::kCUDA);
  const double sum = taper::matmul(a, a).sum().item<double>();
  std::printf("%s: %g\n", taper::cuda::get_device_name().c_str(), sum);
  return sum == 64 ? 0 : 1;
}
