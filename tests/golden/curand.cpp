// Prints the numbers of NVIDIA's cuRAND that tests/cuda/philox.cpp compares with. Its device
// functions run on the host too:
//   g++ -std=c++20 -I /usr/local/cuda/include tests/golden/curand.cpp -o curand && ./curand
#include <cuda_runtime.h>
#include <curand_kernel.h>

#include <cstdio>

int main() {
  const struct {
    unsigned long long seed, thread, offset;
  } cases[] = {{0, 0, 0}, {42, 1, 0}, {0x123456789abcdefull, 70000, 12}, {7, 255, 0x500000000ull}};
  for (const auto& [seed, thread, offset] : cases) {
    curandStatePhilox4_32_10_t state;
    const auto start = [&] { curand_init(seed, thread, offset, &state); };
    std::printf("{0x%llxu, %llu, 0x%llxu,\n", seed, thread, offset);
    start();
    for (int i = 0; i < 2; ++i) {  // the second call goes on to the next counter
      const uint4 w = curand4(&state);
      std::printf(" {0x%xu, 0x%xu, 0x%xu, 0x%xu},\n", w.x, w.y, w.z, w.w);
    }
    start();
    const float4 u = curand_uniform4(&state);
    std::printf(" {%af, %af, %af, %af},\n", u.x, u.y, u.z, u.w);
    start();
    const float4 n = curand_normal4(&state);
    std::printf(" {%.9gf, %.9gf, %.9gf, %.9gf},\n", n.x, n.y, n.z, n.w);
    start();
    const double2 d = curand_uniform2_double(&state);
    std::printf(" {%a, %a},\n", d.x, d.y);
    start();
    const double2 g = curand_normal2_double(&state);
    std::printf(" {%.17g, %.17g}},\n", g.x, g.y);
  }
}
