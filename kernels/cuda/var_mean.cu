#include "taper/kernels/cuda/device/reduce_ops.cuh"
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
  const auto run = [&](const ReduceKernels& kernels) {
    return run_reduction(kernels, call, plan, stream);
  };
  switch (dtype) {
    case kFloat:
      return run(reduce_kernels<MomentsOp<float>>());
    case kDouble:
      return run(reduce_kernels<MomentsOp<double>>());
    case kHalf:
      return run(reduce_kernels<MomentsOp<__half>>());
    case kBFloat16:
      return run(reduce_kernels<MomentsOp<__nv_bfloat16>>());
    default:
      return unsupported();
  }
}

}  // namespace taper::kernels::cuda
