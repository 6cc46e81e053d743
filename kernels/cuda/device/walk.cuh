#pragma once

#include "taper/kernels/cuda/device/kernel.cuh"

// Where operands of different strides have their i-th element, in 32-bit arithmetic. Filled in on
// the host (kernels/cuda/walk.h), which splits what is too large for it.

namespace taper::kernels::cuda {

constexpr int kMaxWalkRank = 16;

/// Quotients by one divisor, 1 to 2^31, of numbers below 2^31: a multiplication and a shift
/// (Granlund and Montgomery, 1994), where hardware has a loop of twenty instructions.
struct Divider {
  uint32_t divisor, multiplier, shift;

  Divider() = default;
  explicit Divider(uint32_t by) : divisor(by), shift(0) {
    while ((uint64_t{1} << shift) < by) ++shift;
    const uint64_t rest = (uint64_t{1} << shift) - by;
    multiplier = static_cast<uint32_t>((rest << 32) / by + 1);
  }
  __device__ __forceinline__ uint32_t quotient(uint32_t n) const {
    return (__umulhi(n, multiplier) + n) >> shift;
  }
};

/// Sizes and strides of operands 0 to N over a common shape, innermost dimension first. A step is
/// one element, or a packet of neighbours in dimension 0; strides count elements.
template <int N>
struct Walk {
  uint32_t count;  ///< steps in all
  int32_t rank;    ///< at least 1
  Divider sizes[kMaxWalkRank];
  int32_t strides[N + 1][kMaxWalkRank];

  /// Elements from each operand's start to its place at step i.
  __device__ __forceinline__ void offsets(uint32_t i, int32_t (&offset)[N + 1]) const {
#pragma unroll
    for (int k = 0; k <= N; ++k) offset[k] = 0;
      // Contiguous operands have rank 1 and skip the loop.
#pragma unroll 1
    for (int d = 0; d + 1 < rank; ++d) {
      const uint32_t quotient = sizes[d].quotient(i);
      const auto at = static_cast<int32_t>(i - quotient * sizes[d].divisor);
#pragma unroll
      for (int k = 0; k <= N; ++k) offset[k] += at * strides[k][d];
      i = quotient;
    }
#pragma unroll
    for (int k = 0; k <= N; ++k) offset[k] += static_cast<int32_t>(i) * strides[k][rank - 1];
  }
};

}  // namespace taper::kernels::cuda
