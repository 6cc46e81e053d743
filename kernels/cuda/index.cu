#include "taper/kernels/cuda/index.h"

#include <numeric>

#include "taper/kernels/cuda/dtypes.h"

// From arguments that name index tensors to Indexed.
//   add_up_indices   the offset that several index tensors give together, for each of their places

namespace taper::kernels::cuda {

namespace {

struct IndexTensors {
  int32_t count;
  const int64_t* index[kMaxIndexTensors];
  int64_t size[kMaxIndexTensors];
  int64_t stride[kMaxIndexTensors];
  DeviceFault* fault;
  const char* op;
};

/// Operand 0 is the offsets, operand k + 1 index tensor k.
__global__ void __launch_bounds__(kIndexBlock)
    add_up_indices(int64_t* offsets, const __grid_constant__ IndexTensors tensors,
                   const __grid_constant__ Walk<kMaxIndexTensors> walk) {
  for (uint32_t i = blockIdx.x * kIndexBlock + threadIdx.x; i < walk.count;
       i += gridDim.x * kIndexBlock) {
    int32_t at[kMaxIndexTensors + 1];
    walk.offsets(i, at);
    int64_t sum = 0;
    bool there = true;
#pragma unroll
    for (int k = 0; k < kMaxIndexTensors; ++k) {
      if (k >= tensors.count) break;
      const int64_t given = tensors.index[k][at[k + 1]], size = tensors.size[k];
      const int64_t index = given < 0 ? given + size : given;
      if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(size)) {
        report_fault(tensors.fault, tensors.op, given, size);
        there = false;
      }
      sum += index * tensors.stride[k];
    }
    offsets[at[0]] = there ? sum : kNowhere;
  }
}

/// The plan's positions at which index tensors differ. Operand 0 is dense.
ElementwisePlan<kMaxIndexTensors> index_positions(const AdvancedIndexArgs& args) {
  ElementwisePlan<kMaxIndexTensors> positions{};
  positions.numel = 1;
  for (int d = 0; d < args.plan.rank; ++d) {
    bool varies = false;
    for (int k = 0; k < args.count; ++k) varies |= args.index_strides[k][d] != 0;
    if (!varies) continue;
    const int to = positions.rank++;
    positions.sizes[to] = args.plan.sizes[d];
    positions.strides[0][to] = positions.numel;
    for (int k = 0; k < args.count; ++k) positions.strides[k + 1][to] = args.index_strides[k][d];
    positions.numel *= positions.sizes[to];
  }
  return positions;
}

}  // namespace

Indexed::Indexed(const IndexAxisArgs& args, const Stream& stream)
    : at{args.index, args.index_dtype == kLong, false,    args.size, args.inner,
         kSkipNone,  fault_of(stream),          stream.op} {
  start_plan(plan);
  add_dimension(plan, args.inner, 1, 0, 1);
  add_dimension(plan, args.count, args.inner, 1, 0);
  add_dimension(plan, args.outer, args.count * args.inner, 0, args.size * args.inner);
}

Indexed::Indexed(const GatherArgs& args, const Stream& stream)
    : plan(args.plan),
      at{args.index, true, false, args.size, args.stride, kSkipNone, fault_of(stream), stream.op} {}

AdvancedIndexed::AdvancedIndexed(const AdvancedIndexArgs& args, const Stream& stream)
    : offsets_(stream, args.count == 1 ? 0 : index_positions(args).numel) {
  start_plan(plan);
  const auto positions = index_positions(args);
  for (int d = 0, next = 0; d < args.plan.rank; ++d) {
    int64_t index_stride = args.index_strides[0][d];
    if (args.count != 1) {
      bool varies = false;
      for (int k = 0; k < args.count; ++k) varies |= args.index_strides[k][d] != 0;
      index_stride = varies ? positions.strides[0][next++] : 0;
    }
    add_dimension(plan, args.plan.sizes[d], args.plan.strides[0][d], index_stride,
                  args.plan.strides[1][d]);
  }
  if (args.count == 1) {
    at = {args.indices[0],  true,     true, args.self_sizes[0], args.self_strides[0], kSkipNone,
          fault_of(stream), stream.op};
    return;
  }
  status_ = offsets_.status();
  if (!status_.ok()) return;
  // Offsets are kept in units that all strides are made of: fewer bits to sort by.
  int64_t unit = 0, last = 0;
  for (int k = 0; k < args.count; ++k) unit = std::gcd(unit, args.self_strides[k]);
  unit = std::max<int64_t>(unit, 1);
  IndexTensors tensors{};
  tensors.count = args.count;
  tensors.fault = fault_of(stream);
  tensors.op = stream.op;
  for (int k = 0; k < args.count; ++k) {
    tensors.size[k] = args.self_sizes[k];
    tensors.stride[k] = args.self_strides[k] / unit;
    last += (tensors.size[k] - 1) * tensors.stride[k];
  }
  at = {offsets_.get(), true, false, last + 1, unit, kSkipNone, nullptr, nullptr};
  status_ = for_each_piece<kMaxIndexTensors>(
      positions, {}, [&](const auto& part, const int64_t(&start)[kMaxIndexTensors + 1]) {
        Walk<kMaxIndexTensors> walk;
        make_walk(walk, part, 1);
        for (int k = 0; k < args.count; ++k) tensors.index[k] = args.indices[k] + start[k + 1];
        return launch(stream, add_up_indices, elementwise_blocks(walk.count, stream), kIndexBlock,
                      0, offsets_.get() + start[0], tensors, walk);
      });
}

int64_t run_unit(const Indexed& indexed, int64_t bytes, const void* values, const void* self) {
  const IndexPlan& plan = indexed.plan;
  const auto& strides = plan.strides;
  if (plan.rank == 0 || strides[kIndex][0] != 0 || strides[kSelf][0] != 1) return bytes;
  if (values && strides[kValues][0] != 1) return bytes;
  uint64_t all = reinterpret_cast<uintptr_t>(values) | reinterpret_cast<uintptr_t>(self) | 16;
  all |= static_cast<uint64_t>((plan.sizes[0] | indexed.at.stride) * bytes);
  for (int d = 1; d < plan.rank; ++d) {
    all |= static_cast<uint64_t>((strides[kSelf][d] | (values ? strides[kValues][d] : 0)) * bytes);
  }
  return static_cast<int64_t>(all & -all);
}

}  // namespace taper::kernels::cuda
