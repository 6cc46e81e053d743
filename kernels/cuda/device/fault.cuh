#pragma once

#include "taper/kernels/cuda/device/kernel.cuh"

// What a kernel found wrong with its input, an index out of range. It cannot throw: it leaves a
// note in a word of its device, does nothing for that element, and the next call that waits reports
// it.

namespace taper::kernels::cuda {

/// One per device, in its memory. `state` is 0 until somebody writes.
struct DeviceFault {
  unsigned state;
  unsigned unused;
  const char* op;  ///< host memory: the name that the launch passed on
  int64_t value, limit;
};

/// The first writer wins.
inline __device__ void report_fault(DeviceFault* fault, const char* op, int64_t value,
                                    int64_t limit) {
  if (atomicCAS(&fault->state, 0u, 1u) != 0u) return;
  fault->op = op;
  fault->value = value;
  fault->limit = limit;
}

}  // namespace taper::kernels::cuda
