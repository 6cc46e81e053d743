#include "taper/kernels/cuda/device/reduce_ops.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/reduction.h"

namespace taper::kernels::cuda {

namespace {

ReducePlan plan_of(const AxisPlan& axis) {
  ReducePlan plan{};
  plan.kept_numel = axis.outer * axis.inner;
  plan.reduced_numel = axis.size;
  const auto keep = [&](int64_t size, int64_t out_stride, int64_t in_stride) {
    if (size == 1) return;
    plan.kept_sizes[plan.kept_rank] = size;
    plan.out_strides[plan.kept_rank] = out_stride;
    plan.in_kept_strides[plan.kept_rank++] = in_stride;
  };
  keep(axis.inner, 1, 1);
  keep(axis.outer, axis.inner, axis.size * axis.inner);
  plan.reduced_rank = 1;
  plan.reduced_sizes[0] = axis.size;
  plan.in_reduced_strides[0] = axis.inner;
  return plan;
}

}  // namespace

Status arg_reduce(ArgOp op, void* values, int64_t* indices, const void* in, ScalarType dtype,
                  const AxisPlan& axis, Stream stream) {
  if (axis.outer == 0 || axis.size == 0 || axis.inner == 0) return {};
  ReduceCall call{};
  call.in = in;
  call.out[0] = values;
  call.out[1] = indices;
  return for_number_or_byte(dtype, [&]<class T>(T) {
    const ReduceKernels kernels =
        op == ArgOp::kMax ? reduce_kernels<ArgOf<T, true>>() : reduce_kernels<ArgOf<T, false>>();
    return run_reduction(kernels, call, plan_of(axis), stream);
  });
}

}  // namespace taper::kernels::cuda
