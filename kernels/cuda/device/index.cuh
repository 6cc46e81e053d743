#pragma once

#include "taper/kernels/cuda/device/fault.cuh"

// Places that an index tensor gives along one dimension of a tensor.

namespace taper::kernels::cuda {

/// A place that does not exist: out of range, or to be skipped.
constexpr int64_t kNowhere = -1;

struct DimIndex {
  const void* index;
  bool wide;      ///< int64, else int32
  bool negative;  ///< [-size, 0) counts from the end
  int64_t size;   ///< of the indexed dimension
  int64_t stride;
  int64_t skipped;     ///< an index for which nothing is done
  DeviceFault* fault;  ///< null: what is out of range has been reported before
  const char* op;

#if TAPER_DEVICE_CODE
  /// Elements to go along the dimension for the index at `at`, or kNowhere.
  __device__ __forceinline__ int64_t offset(int32_t at) const {
    const int64_t given =
        wide ? static_cast<const int64_t*>(index)[at] : static_cast<const int32_t*>(index)[at];
    if (given == skipped) return kNowhere;
    const int64_t i = negative && given < 0 ? given + size : given;
    if (static_cast<uint64_t>(i) >= static_cast<uint64_t>(size)) {
      if (fault) report_fault(fault, op, given, size);
      return kNowhere;
    }
    return i * stride;
  }
#endif
};

}  // namespace taper::kernels::cuda
