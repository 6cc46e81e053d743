#pragma once

#include "taper/kernels/cuda/device/reduce_ops.cuh"
#include "taper/kernels/cuda/reduction.h"

// Which kernels a ReduceOp has. Each .cu file makes those of one type in memory.

namespace taper::kernels::cuda {

/// What is done to the elements; the rest of an op, as a mean's division, comes at the end.
enum class ReduceClass {
  kSum,
  kSquareSum,
  kProduct,
  kMax,
  kMin,
  // Floating types only.
  kNanSum,
  kAbsSum,
  kPowerSum,
  kMaxAbs,
  kMinAbs,
};

template <class T>
ReduceKernels find_reduction(ReduceClass reduction);
#define TAPER_FOUND(T) \
  template <>          \
  ReduceKernels find_reduction<T>(ReduceClass reduction);
TAPER_FOUND(float)
TAPER_FOUND(double)
TAPER_FOUND(__half)
TAPER_FOUND(__nv_bfloat16)
TAPER_FOUND(int64_t)
TAPER_FOUND(int32_t)
TAPER_FOUND(int16_t)
TAPER_FOUND(int8_t)
TAPER_FOUND(uint8_t)
#undef TAPER_FOUND
/// CountOp's, for elements of the size of U.
template <class U>
ReduceKernels find_count();
#define TAPER_FOUND(U) \
  template <>          \
  ReduceKernels find_count<U>();
TAPER_FOUND(uint64_t)
TAPER_FOUND(uint32_t)
TAPER_FOUND(uint16_t)
TAPER_FOUND(uint8_t)
#undef TAPER_FOUND

template <class T, class Rule>
ReduceKernels fold_kernels() {
  return reduce_kernels<FoldOp<T, Rule>>();
}

template <class T>
ReduceKernels find_number_reduction(ReduceClass reduction) {
  switch (reduction) {
    case ReduceClass::kSquareSum:
      return fold_kernels<T, SquareSumRule>();
    case ReduceClass::kProduct:
      return fold_kernels<T, ProductRule>();
    case ReduceClass::kMax:
      return fold_kernels<T, MaxRule>();
    case ReduceClass::kMin:
      return fold_kernels<T, MinRule>();
    default:
      return fold_kernels<T, SumRule>();
  }
}

template <class T>
ReduceKernels find_floating_reduction(ReduceClass reduction) {
  switch (reduction) {
    case ReduceClass::kNanSum:
      return fold_kernels<T, NanSumRule>();
    case ReduceClass::kAbsSum:
      return fold_kernels<T, AbsSumRule>();
    case ReduceClass::kPowerSum:
      return fold_kernels<T, PowerSumRule>();
    case ReduceClass::kMaxAbs:
      return fold_kernels<T, MaxAbsRule>();
    case ReduceClass::kMinAbs:
      return fold_kernels<T, MinAbsRule>();
    default:
      return find_number_reduction<T>(reduction);
  }
}

}  // namespace taper::kernels::cuda
