#include "taper/kernels/cuda/scan.h"

namespace taper::kernels::cuda {

ScanKernels find_product_scan(ScalarType dtype) {
  return scan_kernels_among<ProductScan, float, double, __half, __nv_bfloat16, int64_t, int32_t,
                            int16_t, int8_t, uint8_t, bool>(dtype);
}

}  // namespace taper::kernels::cuda
