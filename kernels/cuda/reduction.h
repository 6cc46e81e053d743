#pragma once

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/reduction.cuh"
#include "taper/kernels/plan.h"

// The host side of device/reduction.cuh.

namespace taper::kernels::cuda {

/// The kernels of an op.
struct ReduceKernels {
  using Kernel = void (*)(ReduceCall);
  Kernel rows, columns, fold;
  int64_t element_size, partial_size;  ///< bytes
  int64_t row_width, column_width;     ///< elements of a packet
};

template <class Op>
ReduceKernels reduce_kernels() {
  return {&reduce_rows<Op>,
          &reduce_columns<Op>,
          &fold_partials<Op>,
          static_cast<int64_t>(sizeof(typename Op::In)),
          static_cast<int64_t>(sizeof(typename Op::A)),
          kRowWidth<typename Op::In>,
          kColumnWidth<Op>};
}

/// The most results and steps of one launch: kernels count in 32 bits.
constexpr int64_t kMaxReduceSteps = int64_t{1} << 30;

/// Fills in the geometry of `call`, whose op, pointers and parameters are set, and launches.
/// `limit` is less than kMaxReduceSteps in tests.
Status run_reduction(const ReduceKernels& kernels, ReduceCall call, const ReducePlan& plan,
                     const Stream& stream, int64_t limit = kMaxReduceSteps);

}  // namespace taper::kernels::cuda
