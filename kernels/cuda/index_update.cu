#include "taper/kernels/cuda/index_update.h"

#include <bit>
#include <cstring>
#include <utility>

#include "taper/kernels/cuda/index.h"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/radix_sort.h"

// index_update, scatter, index_put: writing at places that index tensors give. Two updates can meet
// only along the plan's dimensions in which self does not move. Where these have few positions, a
// thread goes along them (update_columns). Else updates are sorted by target (make_targets,
// radix_sort.h) and combined in groups (update_groups, and update_long for those with very many);
// dimensions with one index for all their positions take no part in that. Halves that are summed or
// multiplied always go the second way, so that they are rounded once.

namespace taper::kernels::cuda {

namespace {

// A sort reads and writes as much as a thread does in about so many steps.
constexpr int64_t kFewPositions = 32;

static_assert(static_cast<int>(Combine::kAssign) == static_cast<int>(ScatterOp::kAssign));
static_assert(static_cast<int>(Combine::kAdd) == static_cast<int>(ScatterOp::kAdd));
static_assert(static_cast<int>(Combine::kMul) == static_cast<int>(ScatterOp::kMul));
static_assert(static_cast<int>(Combine::kMax) == static_cast<int>(ScatterOp::kMax));
static_assert(static_cast<int>(Combine::kMin) == static_cast<int>(ScatterOp::kMin));

/// Where each update goes, in units of `unit` elements, and where its values are. The walk has the
/// operands values, index, self. No long groups are known yet.
__global__ void __launch_bounds__(kIndexBlock)
    make_targets(uint64_t* targets, int32_t* sources, const __grid_constant__ DimIndex at,
                 const __grid_constant__ Walk<2> walk, int64_t unit, uint64_t nowhere,
                 uint32_t* long_groups) {
  if (long_groups && blockIdx.x == 0 && threadIdx.x == 0) *long_groups = 0;
  for (uint32_t i = blockIdx.x * kIndexBlock + threadIdx.x; i < walk.count;
       i += gridDim.x * kIndexBlock) {
    int32_t offset[3];
    walk.offsets(i, offset);
    const int64_t along = at.offset(offset[1]);
    targets[i] = along == kNowhere ? nowhere : static_cast<uint64_t>((offset[2] + along) / unit);
    sources[i] = offset[0];
  }
}

template <class Visit>
Status for_any(ScalarType dtype, const Visit& visit) {
  return for_dtypes<float, double, __half, __nv_bfloat16, int64_t, int32_t, int16_t, int8_t,
                    uint8_t, bool>(dtype, visit);
}

/// Assigning moves elements: one dtype for each size will do.
ScalarType moved_as(ScalarType dtype) {
  switch (element_size(dtype)) {
    case 1:
      return kByte;
    case 2:
      return kShort;
    case 4:
      return kInt;
    default:
      return kLong;
  }
}

/// A number as the bits of an element.
uint64_t bits_of(ScalarType dtype, const Value& value) {
  uint64_t bits = 0;
  const auto set = [&](auto number) { std::memcpy(&bits, &number, sizeof number); };
  switch (dtype) {
    case kFloat:
      set(static_cast<float>(value.d));
      break;
    case kDouble:
      set(value.d);
      break;
    case kHalf:
      set(static_cast<Half>(value.d));
      break;
    case kBFloat16:
      set(static_cast<BFloat16>(value.d));
      break;
    case kBool:
      set(value.i != 0);
      break;
    default:  // integers, whose low bytes come first
      set(value.i);
  }
  return bits;
}

struct Work {
  ScalarType dtype;
  Update update;
  Indexed indexed;
};

bool meets(const IndexPlan& plan, int d) { return plan.strides[kSelf][d] == 0; }
bool is_free(const IndexPlan& plan, int d) {
  return plan.strides[kIndex][d] == 0 && !meets(plan, d);
}

Status launch_update_columns(const Work& work, const Stream& stream) {
  const IndexPlan& plan = work.indexed.plan;
  ColumnsCall call{};
  call.update = work.update;
  call.at = work.indexed.at;
  call.length = 1;
  IndexPlan columns;
  start_plan(columns);
  for (int d = 0; d < plan.rank; ++d) {
    const auto& s = plan.strides;
    if (meets(plan, d)) {
      call.length = static_cast<int32_t>(plan.sizes[d]);
      call.value_step = static_cast<int32_t>(s[kValues][d]);
      call.index_step = static_cast<int32_t>(s[kIndex][d]);
    } else {
      add_dimension(columns, plan.sizes[d], s[kValues][d], s[kIndex][d], s[kSelf][d]);
    }
  }
  make_walk(call.columns, columns, 1);
  return for_any(work.dtype, [&]<class T>(T) { return launch_columns<T>(call, stream); });
}

Status launch_update_groups(const Work& work, const Stream& stream) {
  const IndexPlan& plan = work.indexed.plan;
  const DimIndex& at = work.indexed.at;
  // All updates, and what each of them is: the free dimensions.
  IndexPlan updates;
  start_plan(updates);
  ElementwisePlan<1> free{};
  free.numel = 1;
  int64_t unit = std::max<int64_t>(at.stride, 1), last = (at.size - 1) * at.stride;
  for (int d = 0; d < plan.rank; ++d) {
    const int64_t size = plan.sizes[d], value = plan.strides[kValues][d];
    const int64_t self = plan.strides[kSelf][d];
    if (is_free(plan, d)) {
      free.sizes[free.rank] = size;
      free.strides[0][free.rank] = self;
      free.strides[1][free.rank++] = value;
      free.numel *= size;
    } else {
      add_dimension(updates, size, value, plan.strides[kIndex][d], self);
      if (self % unit != 0) unit = 1;
      last += (size - 1) * self;
    }
  }
  const auto nowhere = static_cast<uint64_t>(last / unit + 1);

  const int64_t count = updates.numel;
  RadixSorter<uint64_t> sorter(stream, 1, count);
  TAPER_TRY(sorter.status());
  Walk<2> walk;
  make_walk(walk, updates, 1);
  // Their number, then their ranges. Of what is assigned the last one stays: no group takes long.
  const bool assigns = work.update.op == Combine::kAssign;
  const unsigned most_long = assigns ? 0 : most_long_groups(static_cast<uint32_t>(count));
  const Scratch<uint2> long_groups(stream, most_long == 0 ? 0 : 1 + int64_t{most_long});
  TAPER_TRY(long_groups.status());
  const LongGroups found = most_long == 0
                               ? LongGroups{nullptr, nullptr}
                               : LongGroups{&long_groups.get()->x, long_groups.get() + 1};
  TAPER_TRY(launch(stream, make_targets, elementwise_blocks(count, stream), kIndexBlock, 0,
                   sorter.keys(), sorter.payloads(), at, walk, unit, nowhere, found.count));
  TAPER_TRY(sorter.sort(1, count, std::bit_width(nowhere)));

  const auto bytes = static_cast<int64_t>(element_size(work.dtype));
  const bool packed =
      run_unit(work.indexed, bytes, work.update.values, work.update.self) == 16 && bytes < 16;
  GroupsCall call{};
  call.update = work.update;
  call.targets = sorter.keys();
  call.sources = sorter.payloads();
  call.count = static_cast<uint32_t>(count);
  call.nowhere = nowhere;
  call.unit = unit;
  make_walk(call.free, free, packed ? 16 / bytes : 1);
  call.long_groups = found;
  return for_any(work.dtype, [&]<class T>(T) -> Status {
    TAPER_TRY(launch_groups<T>(call, packed, stream));
    return found.count ? launch_long<T>(call, packed, stream) : Status{};
  });
}

Status update_piece(const Work& work, const Stream& stream) {
  const IndexPlan& plan = work.indexed.plan;
  const Combine op = work.update.op;
  int64_t length = 1;
  int dimensions = 0;
  for (int d = 0; d < plan.rank; ++d) {
    if (!meets(plan, d)) continue;
    length *= plan.sizes[d];
    ++dimensions;
  }
  const bool rounds = is_reduced_floating_point(work.dtype) &&
                      (op == Combine::kAdd || op == Combine::kMul) && length > 1;
  return dimensions <= 1 && length <= kFewPositions && !rounds ? launch_update_columns(work, stream)
                                                               : launch_update_groups(work, stream);
}

/// `values` null: the number, whose bits are in update.number.
Status update_indexed(Work work, const Stream& stream) {
  if (work.indexed.plan.numel == 0) return {};
  Update& update = work.update;
  if (update.op == Combine::kAssign) work.dtype = moved_as(work.dtype);
  const auto bytes = static_cast<int64_t>(element_size(work.dtype));
  return for_each_piece<2>(work.indexed.plan, {}, [&](const auto& part, const int64_t(&start)[3]) {
    Work piece = work;
    piece.indexed.plan = part;
    piece.indexed.at = moved(work.indexed.at, start[kIndex]);
    piece.update.self = static_cast<char*>(update.self) + start[kSelf] * bytes;
    if (update.values) {
      piece.update.values = static_cast<const char*>(update.values) + start[kValues] * bytes;
    }
    return update_piece(piece, stream);
  });
}

Update make_update(ScatterOp op, void* self, const void* values) {
  return {static_cast<Combine>(op), self, values, 0, 1, 1};
}

}  // namespace

Status index_update(ScatterOp op, void* self, const void* src, const IndexAxisArgs& args,
                    Value alpha, int64_t padding, Stream stream) {
  Work work{args.dtype, make_update(op, self, src), Indexed(args, stream)};
  if (padding >= 0) work.indexed.at.skipped = padding;
  work.update.alpha_real = alpha.d;
  work.update.alpha_whole = alpha.i;
  return update_indexed(work, stream);
}

Status scatter(const GatherArgs& args, Stream stream) {
  Work work{args.dtype, make_update(args.op, args.self, args.values), Indexed(args, stream)};
  if (args.scalar_source) {
    work.update.values = nullptr;
    work.update.number = bits_of(args.dtype, args.scalar);
    std::fill_n(work.indexed.plan.strides[kValues], work.indexed.plan.rank, 0);
  }
  return update_indexed(work, stream);
}

Status index_put(const AdvancedIndexArgs& args, bool accumulate, Stream stream) {
  if (args.plan.numel == 0) return {};
  const AdvancedIndexed indexed(args, stream);
  TAPER_TRY(indexed.status());
  const ScatterOp op = accumulate ? ScatterOp::kAdd : ScatterOp::kAssign;
  return update_indexed({args.dtype, make_update(op, args.self, args.values), indexed}, stream);
}

}  // namespace taper::kernels::cuda
