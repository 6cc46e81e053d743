#pragma once

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/scan_kernels.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/plan.h"

// The host side of device/scan_kernels.cuh.

namespace taper::kernels::cuda {

/// What differs between ops; `carries` launches scan_carries.
struct ScanKernels {
  using Kernel = void (*)(ScanCall);
  Kernel rows_of_warp, rows_of_block, columns;
  Status (*carries)(void* carries, int64_t lines, int64_t chunks, const Stream& stream);
  int64_t element_size, carry_size;  ///< bytes
  int64_t width;                     ///< elements of a packet
};

template <class Op>
Status launch_scan_carries(void* carries, int64_t lines, int64_t chunks, const Stream& stream) {
  constexpr int64_t kLinesOfBlock = kScanBlock / kWarpSize;
  return launch(stream, scan_carries<Op>,
                dim3(static_cast<unsigned>((lines + kLinesOfBlock - 1) / kLinesOfBlock)),
                dim3(kScanBlock), 0, static_cast<typename Op::A*>(carries), lines, chunks);
}

template <class Op>
ScanKernels scan_kernels() {
  using T = typename Op::In;
  return {&scan_rows<Op, kWarpSize>,
          &scan_rows<Op, kScanBlock>,
          &scan_columns<Op>,
          &launch_scan_carries<Op>,
          static_cast<int64_t>(sizeof(T)),
          static_cast<int64_t>(sizeof(typename Op::A)),
          kScanWidth<T>};
}

/// Those of Op<T> for the dtype among Ts; null kernels for any other.
template <template <class> class Op, class... Ts>
ScanKernels scan_kernels_among(ScalarType dtype) {
  ScanKernels found{};
  static_cast<void>(
      ((dtype == StoredDtype<Ts>::value ? (found = scan_kernels<Op<Ts>>(), true) : false) || ...));
  return found;
}

/// Null kernels where the op does not take the dtype. Each .cu file makes some.
ScanKernels find_sum_scan(ScalarType dtype);
ScanKernels find_product_scan(ScalarType dtype);
ScanKernels find_log_sum_exp_scan(ScalarType dtype);
ScanKernels find_extreme_scan(bool largest, ScalarType dtype);

}  // namespace taper::kernels::cuda
