#pragma once

#include "taper/kernels/cuda/device/kernel.cuh"

// The machine instructions that CUDA has no function for. Two bodies each: inline PTX for nvcc, and
// plain loops over the warp's lanes for the emulator (kernels/emulator/ptx.h).
//
//   mma_m16n8k16<T>(d, a, b)     d += a * b, T being __half or __nv_bfloat16, sums in float.
//                                Lane 4g + t holds, as pairs of neighbours in a row (a) or column
//                                (b),
//                                  a: (g, 2t) (g + 8, 2t) (g, 2t + 8) (g + 8, 2t + 8)
//                                  b: (2t, g) (2t + 8, g)
//                                  d: (g, 2t) (g, 2t + 1) (g + 8, 2t) (g + 8, 2t + 1)
//   ldmatrix<N>(r, row)          loads N = 1, 2 or 4 tiles of 8x8 16-bit numbers from shared
//   memory;
//                                lane 8i + j gives the address of tile i's row j, 16-byte aligned,
//                                and lane 4g + t gets (g, 2t) and (g, 2t + 1) of each tile.
//   ldmatrix_transposed<N>(...)  the same, of the tiles transposed.
//   cp_async<N>(to, from, n)     copies N = 4, 8 or 16 bytes from global to shared memory while the
//                                thread goes on; only the first n are read, the rest becomes 0.
//   cp_async_commit()            closes the group of copies begun since the last one.
//   cp_async_wait<N>()           waits until at most N of the thread's latest groups are under way.
// All 32 lanes take part in the first three.

#if !defined(__CUDACC__)
#include "taper/kernels/emulator/ptx.h"
#else

namespace taper::kernels::cuda {

template <class T>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[2]);
template <>
__device__ __forceinline__ void mma_m16n8k16<__half>(float (&d)[4], const uint32_t (&a)[4],
                                                     const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ __forceinline__ void mma_m16n8k16<__nv_bfloat16>(float (&d)[4], const uint32_t (&a)[4],
                                                            const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

#define TAPER_LDMATRIX(name, trans)                                                         \
  template <int N>                                                                          \
  __device__ __forceinline__ void name(uint32_t(&r)[N], const void* row) {                  \
    static_assert(N == 1 || N == 2 || N == 4);                                              \
    const uint32_t from = shared_address(row);                                              \
    if constexpr (N == 1) {                                                                 \
      asm volatile("ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {%0}, [%1];"          \
                   : "=r"(r[0])                                                             \
                   : "r"(from)                                                              \
                   : "memory");                                                             \
    } else if constexpr (N == 2) {                                                          \
      asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 {%0,%1}, [%2];"       \
                   : "=r"(r[0]), "=r"(r[1])                                                 \
                   : "r"(from)                                                              \
                   : "memory");                                                             \
    } else {                                                                                \
      asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0,%1,%2,%3}, [%4];" \
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                         \
                   : "r"(from)                                                              \
                   : "memory");                                                             \
    }                                                                                       \
  }
TAPER_LDMATRIX(ldmatrix, "")
TAPER_LDMATRIX(ldmatrix_transposed, ".trans")
#undef TAPER_LDMATRIX

/// 16 bytes go past the L1 cache (.cg), which only streams them; smaller copies cannot.
template <int N>
__device__ __forceinline__ void cp_async(void* to, const void* from, int valid = N) {
  static_assert(N == 4 || N == 8 || N == 16);
  if constexpr (N == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(valid)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                 "l"(from), "n"(N), "r"(valid)
                 : "memory");
  }
}
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

}  // namespace taper::kernels::cuda

#endif
