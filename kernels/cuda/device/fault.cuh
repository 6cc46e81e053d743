#pragma once

#include "taper/kernels/cuda/device/kernel.cuh"

// What a kernel found wrong with its input, an index out of range. It cannot throw: it leaves a
// note in a word of its device, does nothing for that element, and the next call that waits reports
// it.

namespace taper::kernels::cuda {

/// One per device, in its memory, where an optimizer's kernel reads `state`, and a twin of it in
/// pinned memory, where the host reads it without a copy. `state` is 0 until somebody writes.
struct DeviceFault {
  unsigned state;
  unsigned unused;
  const char* op;  ///< host memory: the name that the launch passed on
  int64_t value, limit;
  DeviceFault* twin;  ///< the one for the host; its own is null
};

/// As `limit`: what is wrong is not an index, and `op` says it.
constexpr int64_t kNotAnIndex = -1;

#if TAPER_DEVICE_CODE
/// The first writer wins.
inline __device__ void report_fault(DeviceFault* fault, const char* op, int64_t value,
                                    int64_t limit) {
  if (atomicCAS(&fault->state, 0u, 1u) != 0u) return;
  fault->op = op;
  fault->value = value;
  fault->limit = limit;
  DeviceFault* const twin = fault->twin;
  if (!twin) return;
  twin->op = op;
  twin->value = value;
  twin->limit = limit;
  __threadfence_system();  // the host may look while the kernel runs: the state goes last
  atomicExch(&twin->state, 1u);
}
#endif

}  // namespace taper::kernels::cuda
