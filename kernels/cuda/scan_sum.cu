#include "taper/kernels/cuda/scan.h"

namespace taper::kernels::cuda {

ScanKernels find_sum_scan(ScalarType dtype) {
  switch (dtype) {
    case kFloat:
      return scan_kernels<SumScan<float>>();
    case kDouble:
      return scan_kernels<SumScan<double>>();
    case kHalf:
      return scan_kernels<SumScan<__half>>();
    case kBFloat16:
      return scan_kernels<SumScan<__nv_bfloat16>>();
    case kLong:
      return scan_kernels<SumScan<int64_t>>();
    case kInt:
      return scan_kernels<SumScan<int32_t>>();
    case kShort:
      return scan_kernels<SumScan<int16_t>>();
    case kChar:
      return scan_kernels<SumScan<int8_t>>();
    case kByte:
      return scan_kernels<SumScan<uint8_t>>();
    case kBool:
      return scan_kernels<SumScan<bool>>();
    default:
      return {};
  }
}

ScanKernels find_log_sum_exp_scan(ScalarType dtype) {
  switch (dtype) {
    case kFloat:
      return scan_kernels<LogSumExpScan<float>>();
    case kDouble:
      return scan_kernels<LogSumExpScan<double>>();
    case kHalf:
      return scan_kernels<LogSumExpScan<__half>>();
    case kBFloat16:
      return scan_kernels<LogSumExpScan<__nv_bfloat16>>();
    default:
      return {};
  }
}

}  // namespace taper::kernels::cuda
