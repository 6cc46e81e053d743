#include "taper/kernels/cuda/device/reduce_ops.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/reduction.h"

namespace taper::kernels::cuda {

Status var_mean(void* var, void* mean, const void* in, ScalarType dtype, double correction,
                const ReducePlan& plan, Stream stream) {
  ReduceCall call{};
  call.in = in;
  call.out[0] = var;
  call.out[1] = mean;
  call.p = correction;
  return for_floating(dtype, [&]<class T>(T) {
    return run_reduction(reduce_kernels<MomentsOp<T>>(), call, plan, stream);
  });
}

}  // namespace taper::kernels::cuda
