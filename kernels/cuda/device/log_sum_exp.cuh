#pragma once

#include "taper/kernels/cuda/device/row.cuh"
#include "taper/kernels/functors/math.h"

// The largest element and the sum of exp(element - largest), in one pass over a row.

namespace taper::kernels::cuda {

/// The larger; the second where either is NaN. exp(NaN - top) brings the NaN back.
struct LargerFold {
  template <class C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    return functors::max(a, b);
  }
};

template <class C>
__device__ __forceinline__ C minus_infinity() {
  return -static_cast<C>(__builtin_huge_val());
}

/// sum = sum of exp(x - top). While top is -inf the sum is 0, not NaN: a later element may be
/// finite.
template <class C>
struct ExpSum {
  C top = minus_infinity<C>();
  C sum = 0;

  template <int N>
  __device__ __forceinline__ void add(const C (&x)[N]) {
    C highest = x[0];
#pragma unroll
    for (int i = 1; i < N; ++i) highest = functors::max(x[i], highest);
    if (highest > top) {
      sum *= functors::exp(top - highest);
      top = highest;
    }
    const C base = top > minus_infinity<C>() ? top : C(0);
#pragma unroll
    for (int i = 0; i < N; ++i) sum += functors::exp(x[i] - base);
  }

  /// The whole row's, of what the threads of a group have; -inf alone gives NaN.
  template <class Group>
  __device__ __forceinline__ ExpSum over() const {
    ExpSum all;
    all.top = Group::reduce(top, LargerFold());
    const C share = sum * functors::exp(top - all.top);
    all.sum = Group::reduce(share, AddFold());
    return all;
  }
};

}  // namespace taper::kernels::cuda
