#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/index.h"
#include "taper/kernels/cuda/kernels.h"

// index_select, gather, index_get: reading at places that index tensors give.
//   gather_units   whatever the dtype, 1 to 16 bytes at a time: rows go by 16 where they are
//   aligned

namespace taper::kernels::cuda {

namespace {

// An element is two loads that wait for each other; four of them wait together.
constexpr int kUnits = 4;

// On a multiprocessor: with 80 registers the four units' places are not spilled.
constexpr int kGatherBlocks = 3;

template <class U>
__global__ void __launch_bounds__(kIndexBlock, kGatherBlocks)
    gather_units(U* __restrict__ values, const U* __restrict__ self,
                 const __grid_constant__ DimIndex at, const __grid_constant__ Walk<2> walk) {
  constexpr uint32_t kTile = kIndexBlock * kUnits;
  for (uint32_t tile = blockIdx.x * kTile; tile < walk.count; tile += gridDim.x * kTile) {
    int32_t to[kUnits];
    int64_t from[kUnits];
    U unit[kUnits];
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
      const uint32_t i = tile + k * kIndexBlock + threadIdx.x;
      from[k] = kNowhere;
      if (i >= walk.count) continue;
      int32_t offset[3];
      walk.offsets(i, offset);
      const int64_t along = at.offset(offset[1]);
      to[k] = offset[0];
      if (along != kNowhere) from[k] = offset[2] + along;
    }
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
      if (from[k] != kNowhere) unit[k] = self[from[k]];
    }
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
      if (from[k] != kNowhere) values[to[k]] = unit[k];
    }
  }
}

template <class U>
Status gather_pieces(void* values, const void* self, const Indexed& indexed, const Stream& stream) {
  return for_each_piece<2>(indexed.plan, {}, [&](const auto& part, const int64_t(&start)[3]) {
    Walk<2> walk;
    make_walk(walk, part, 1);
    return launch(stream, gather_units<U>, elementwise_blocks(ceil_div(walk.count, kUnits), stream),
                  kIndexBlock, 0, static_cast<U*>(values) + start[kValues],
                  static_cast<const U*>(self) + start[kSelf], moved(indexed.at, start[kIndex]),
                  walk);
  });
}

Status gather_indexed(void* values, const void* self, Indexed indexed, ScalarType dtype,
                      const Stream& stream) {
  if (indexed.plan.numel == 0) return {};
  const auto bytes = static_cast<int64_t>(element_size(dtype));
  const int64_t unit = run_unit(indexed, bytes, values, self);
  if (unit > bytes) {
    const int64_t ratio = unit / bytes;
    IndexPlan& plan = indexed.plan;
    indexed.at.stride /= ratio;
    plan.sizes[0] /= ratio;
    plan.numel /= ratio;
    for (int d = 1; d < plan.rank; ++d) {
      plan.strides[kValues][d] /= ratio;
      plan.strides[kSelf][d] /= ratio;
    }
  }
  switch (unit) {
    case 1:
      return gather_pieces<uint8_t>(values, self, indexed, stream);
    case 2:
      return gather_pieces<uint16_t>(values, self, indexed, stream);
    case 4:
      return gather_pieces<uint32_t>(values, self, indexed, stream);
    case 8:
      return gather_pieces<uint64_t>(values, self, indexed, stream);
    default:
      return gather_pieces<uint4>(values, self, indexed, stream);
  }
}

}  // namespace

Status index_select(void* out, const void* self, const IndexAxisArgs& args, Stream stream) {
  return gather_indexed(out, self, Indexed(args, stream), args.dtype, stream);
}

Status gather(const GatherArgs& args, Stream stream) {
  return gather_indexed(args.values, args.self, Indexed(args, stream), args.dtype, stream);
}

Status index_get(const AdvancedIndexArgs& args, Stream stream) {
  if (args.plan.numel == 0) return {};
  const AdvancedIndexed indexed(args, stream);
  TAPER_TRY(indexed.status());
  return gather_indexed(args.values, args.self, indexed, args.dtype, stream);
}

}  // namespace taper::kernels::cuda
