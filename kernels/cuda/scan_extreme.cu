#include "taper/kernels/cuda/scan.h"

namespace taper::kernels::cuda {

namespace {

template <class T>
using Largest = ExtremeScan<T, true>;
template <class T>
using Smallest = ExtremeScan<T, false>;

template <template <class> class Op>
ScanKernels find(ScalarType dtype) {
  return scan_kernels_among<Op, float, double, __half, __nv_bfloat16, int64_t, int32_t, int16_t,
                            int8_t, uint8_t>(dtype);
}

}  // namespace

ScanKernels find_extreme_scan(bool largest, ScalarType dtype) {
  if (dtype == kBool) dtype = kByte;  // a byte of 0 or 1
  return largest ? find<Largest>(dtype) : find<Smallest>(dtype);
}

}  // namespace taper::kernels::cuda
