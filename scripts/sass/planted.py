"""Kernels with faults, for scripts/sass_check --self-test."""

SOURCE = r"""
#include <cuda_fp16.h>
namespace taper::kernels::cuda {
constexpr int kBlock = 256;

template <class T>
__global__ void __launch_bounds__(kBlock) multi_scale_chunks(T* p) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  for (int j = 0; j < 4; ++j) p[j * 4096 + i] *= 2;
}
template <class T>
__global__ void __launch_bounds__(kBlock) multi_unscale_chunks(T* p) {
  float4* const at = reinterpret_cast<float4*>(p) + blockIdx.x * kBlock + threadIdx.x;
  const float4 x = *at;
  *at = float4{x.x * 2, x.y * 2, x.z * 2, x.w * 2};
}
template <class T, int kSize>
__global__ void __launch_bounds__(kBlock) fill_packets(T* p, T value) {
  p[blockIdx.x * kBlock + threadIdx.x] = value;
}
template <class T>
__global__ void __launch_bounds__(kBlock) scan_carries(T* p, int n) {
  T own[32];
  for (int i = 0; i < 32; ++i) own[i] = p[i * kBlock + threadIdx.x];
  for (int i = 0; i < n; ++i) own[static_cast<int>(own[i & 31]) & 31] += 1;
  for (int i = 0; i < 32; ++i) p[i * kBlock + threadIdx.x] = own[i];
}
template <class T>
__global__ void put_rows(T* p) { p[threadIdx.x] = 1; }

template <class T>
__global__ void __launch_bounds__(kBlock, 8) make_keys(T* p) {
  __shared__ T all[8000];
  all[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = all[p[threadIdx.x] > 0 ? 255 - threadIdx.x : 7999];
}
template <class T>
__global__ void __launch_bounds__(kBlock) scan_columns(T* p) {
  __shared__ T all[12000];
  all[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = all[p[threadIdx.x] > 0 ? 255 - threadIdx.x : 11999];
}
template <class T>
__global__ void __launch_bounds__(kBlock) nobody_knows(T* p) { p[threadIdx.x] = 1; }

template <class T, int kM, int kN, int kDown, int kAcross>
struct MmaTile {};
template <class T, bool kDeep, bool kAsync>
struct MatrixSource {};
template <class Tile, class A, class B>
__global__ void __launch_bounds__(kBlock, 2) product_mma_three_stages(float* p, A, B) {
  p[threadIdx.x] *= 2;
}

template __global__ void multi_scale_chunks(float*);
template __global__ void multi_unscale_chunks(float*);
template __global__ void fill_packets<float, 4>(float*, float);
template __global__ void fill_packets<float, 1>(float*, float);
template __global__ void scan_carries(float*, int);
template __global__ void put_rows(float*);
template __global__ void make_keys(float*);
template __global__ void scan_columns(float*);
template __global__ void nobody_knows(float*);
using Source = MatrixSource<__half, true, true>;
template __global__ void product_mma_three_stages<MmaTile<__half, 64, 64, 2, 2>>(float*, Source,
                                                                                 Source);
template __global__ void product_mma_three_stages<MmaTile<__half, 512, 512, 2, 2>>(float*, Source,
                                                                                   Source);
}  // namespace taper::kernels::cuda
"""

# Words that some line must have, all of them; no other line may be there.
WANTED = [
    ("multi_scale_chunks<float>", "no LDG.E.128", "sm_80, sm_90"),
    ("multi_scale_chunks<float>", "no STG.E.128"),
    ("fill_packets<float, 4>", "no STG.E.128"),
    ("scan_carries<float>", "128 bytes of local memory"),
    ("put_rows<float>", "no __launch_bounds__"),
    ("make_keys<float>", "5 blocks on a multiprocessor", "of 8 that it states", "sm_80"),
    ("make_keys<float>", "6 blocks on a multiprocessor", "of 8 that it states", "sm_90"),
    ("scan_columns<float>", "3 blocks on a multiprocessor", "of 4", "states no number", "sm_80"),
    ("nobody_knows<float>", "not in scripts/sass/kinds.py"),
    ("MmaTile<__half, 64, 64, 2, 2>", "no HMMA"),
    ("MmaTile<__half, 512, 512, 2, 2>", "no HMMA"),
    ("MmaTile<__half, 512, 512, 2, 2>", "245760 bytes of shared memory, of 166912"),
    ("MmaTile<__half, 512, 512, 2, 2>", "245760 bytes of shared memory, of 232448"),
    ("MmaTile<__half, 512, 512, 2, 2>", "0 blocks on a multiprocessor"),
]


def compare(found):
    """What is missing of WANTED, and what is there beyond it."""
    missed, rest = [], list(found)
    for words in WANTED:
        line = next((line for line in rest if all(word in line for word in words)), None)
        if line:
            rest.remove(line)
        else:
            missed.append(", ".join(words))
    return missed, rest
