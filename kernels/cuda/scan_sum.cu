#include "taper/kernels/cuda/scan.h"

namespace taper::kernels::cuda {

ScanKernels find_sum_scan(ScalarType dtype) {
  return scan_kernels_among<SumScan, float, double, __half, __nv_bfloat16, int64_t, int32_t,
                            int16_t, int8_t, uint8_t, bool>(dtype);
}

ScanKernels find_log_sum_exp_scan(ScalarType dtype) {
  return scan_kernels_among<LogSumExpScan, float, double, __half, __nv_bfloat16>(dtype);
}

}  // namespace taper::kernels::cuda
