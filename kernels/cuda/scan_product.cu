#include "taper/kernels/cuda/scan.h"

namespace taper::kernels::cuda {

ScanKernels find_product_scan(ScalarType dtype) {
  switch (dtype) {
    case kFloat:
      return scan_kernels<ProductScan<float>>();
    case kDouble:
      return scan_kernels<ProductScan<double>>();
    case kHalf:
      return scan_kernels<ProductScan<__half>>();
    case kBFloat16:
      return scan_kernels<ProductScan<__nv_bfloat16>>();
    case kLong:
      return scan_kernels<ProductScan<int64_t>>();
    case kInt:
      return scan_kernels<ProductScan<int32_t>>();
    case kShort:
      return scan_kernels<ProductScan<int16_t>>();
    case kChar:
      return scan_kernels<ProductScan<int8_t>>();
    case kByte:
      return scan_kernels<ProductScan<uint8_t>>();
    case kBool:
      return scan_kernels<ProductScan<bool>>();
    default:
      return {};
  }
}

}  // namespace taper::kernels::cuda
