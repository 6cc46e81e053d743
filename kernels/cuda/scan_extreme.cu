#include "taper/kernels/cuda/scan.h"

namespace taper::kernels::cuda {

namespace {

template <class T>
ScanKernels find(bool largest) {
  return largest ? scan_kernels<ExtremeScan<T, true>>() : scan_kernels<ExtremeScan<T, false>>();
}

}  // namespace

ScanKernels find_extreme_scan(bool largest, ScalarType dtype) {
  switch (dtype) {
    case kFloat:
      return find<float>(largest);
    case kDouble:
      return find<double>(largest);
    case kHalf:
      return find<__half>(largest);
    case kBFloat16:
      return find<__nv_bfloat16>(largest);
    case kLong:
      return find<int64_t>(largest);
    case kInt:
      return find<int32_t>(largest);
    case kShort:
      return find<int16_t>(largest);
    case kChar:
      return find<int8_t>(largest);
    case kByte:
    case kBool:  // a byte of 0 or 1
      return find<uint8_t>(largest);
    default:
      return {};
  }
}

}  // namespace taper::kernels::cuda
