#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "taper/kernels/status.h"

// The host's half of launch(), which kernel.cuh has.

namespace taper::kernels::cuda {

/// The stream of a launch, and the line that it is on. Made of a cudaStream_t or of anything that
/// has one as its `handle`, such as the contract's Stream.
struct LaunchStream {
  cudaStream_t handle;
  const char* file;
  int line;

  LaunchStream(cudaStream_t stream, const char* from_file = __builtin_FILE(),
               int from_line = __builtin_LINE())
      : handle(stream), file(from_file), line(from_line) {}
  template <class S>
    requires requires(const S& s) { static_cast<cudaStream_t>(s.handle); }
  LaunchStream(const S& stream, const char* from_file = __builtin_FILE(),
               int from_line = __builtin_LINE())
      : handle(static_cast<cudaStream_t>(stream.handle)), file(from_file), line(from_line) {}
};

/// Every launch ends here: an error gets the call site and the kernel's name, and with
/// CUDA_LAUNCH_BLOCKING=1 the host waits, so that a fault is reported by the launch that made it.
Status finish_launch(cudaError_t error, const LaunchStream& stream, const void* kernel);

/// CUDA_LAUNCH_BLOCKING=1
bool launches_block();

/// The latest launches of this process, the newest first: a line each, with kernel and call site.
std::string recent_launches();

}  // namespace taper::kernels::cuda
