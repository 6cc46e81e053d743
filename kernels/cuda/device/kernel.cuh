#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// Whether kernels can be written here: not in the host's files of the plugin for cards, which the
/// host compiler compiles (TAPER_CUDA_HARDWARE).
#if defined(__CUDACC__) || !defined(TAPER_CUDA_HARDWARE)
#define TAPER_DEVICE_CODE 1
#else
#define TAPER_DEVICE_CODE 0
#endif

#if defined(__CUDACC__)
/// An array (or, without dims, a variable) that the block's threads share:
///   TAPER_SHARED(float, tile, [16][17]);
#define TAPER_SHARED(T, name, ...) __shared__ T name __VA_ARGS__
/// A pointer to the shared memory whose size the launch gives. One per kernel.
#define TAPER_DYNAMIC_SHARED(T, name)                                   \
  extern __shared__ __align__(16) unsigned char taper_dynamic_shared[]; \
  T* const name = reinterpret_cast<T*>(taper_dynamic_shared)
#elif TAPER_DEVICE_CODE
#include "taper/kernels/emulator/device.h"
#endif

#if !defined(__CUDACC_RTC__)
#include "taper/kernels/cuda/device/launch.h"
#endif

// What device code includes: this folder, kernels/functors, nothing else. nvcc
// compiles it for a card, the host compiler for the emulator.
//
// What a kernel keeps to, so that the emulator can check it:
//   - shared memory through the two macros, 32-bit or wider arithmetic in float;
//   - a launch bound, blocks of whole warps, shuffles with the full mask before any early return;
//   - one barrier a line (two that meet on different lines are reported as divergent);
//   - no __activemask, no spinning on another thread of the block, no inline PTX (ptx.cuh has it).

namespace taper::kernels::cuda {

constexpr int kWarpSize = 32;
constexpr unsigned kFullMask = 0xffffffffu;

#if TAPER_DEVICE_CODE && !defined(__CUDACC_RTC__)

/// Runs `kernel` on a grid of blocks, with `shared` bytes of dynamic shared memory; more than 48
/// KiB of it is asked for as CUDA demands. The arguments are converted to the kernel's own types.
///   return launch(stream, softmax_rows<float>, dim3(rows), dim3(256), 0, out, in, columns);
template <class... P, class... A>
Status launch(const LaunchStream& stream, void (*kernel)(P...), dim3 grid, dim3 block,
              size_t shared, const A&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "launch: wrong number of arguments for this kernel");
  constexpr size_t kSharedWithoutAsking = 48 << 10;
  const void* const symbol = reinterpret_cast<const void*>(kernel);
  cudaError_t error = cudaSuccess;
  if (shared > kSharedWithoutAsking) {
    error = cudaFuncSetAttribute(symbol, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared));
  }
  if (error == cudaSuccess) {
#if defined(__CUDACC__)
    error = [&](P... converted) {
      void* pointers[] = {static_cast<void*>(&converted)..., nullptr};
      return cudaLaunchKernel(symbol, grid, block, pointers, shared, stream.handle);
    }(static_cast<P>(args)...);
#else
    error = emulator::launch(kernel, grid, block, shared, stream.handle, stream.file, stream.line,
                             static_cast<P>(args)...);
#endif
  }
  return finish_launch(error, stream, symbol);
}

#endif

}  // namespace taper::kernels::cuda
