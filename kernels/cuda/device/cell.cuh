#pragma once

#include "taper/kernels/cuda/device/row.cuh"
#include "taper/kernels/functors/special.h"

// One step of a recurrent layer: the state is [batch, hidden], and its gates lie side by side in
// rows of kGates * hidden.

namespace taper::kernels::cuda {

constexpr int kCellBlock = 128;  // the gates' packs take many registers

/// Calls body(at, gate) for each of `steps` pieces of N elements: `at` in the state, `gate` where
/// its first gate is; the others follow at distances of `hidden`.
template <int N, int kGates, class Body>
__device__ __forceinline__ void for_cells(unsigned steps, unsigned hidden, const Body& body) {
  const unsigned threads = gridDim.x * kCellBlock;
  for (unsigned step = blockIdx.x * kCellBlock + threadIdx.x; step < steps; step += threads) {
    const unsigned at = step * N, row = at / hidden;
    body(at, row * (kGates * hidden) + (at - row * hidden));
  }
}

}  // namespace taper::kernels::cuda
