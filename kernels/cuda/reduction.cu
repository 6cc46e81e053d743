#include "taper/kernels/cuda/reduction.h"
#include "taper/kernels/plan_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace taper::kernels::cuda {

namespace {

/// A thread folds at most so many steps one after the other: it bounds the rounding error of sums.
constexpr int64_t kLongestChain = 512;
/// Steps of a thread below which more threads do not pay.
constexpr int64_t kStepsOfThread = 4;
/// Blocks that fill a multiprocessor: 2048 threads.
constexpr int64_t kBlocksOfMultiprocessor = 2048 / kReduceBlock;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The exponent of the least power of 2 that is not less than n.
uint32_t log2_up(int64_t n) {
  uint32_t log = 0;
  while ((int64_t{1} << log) < n) ++log;
  return log;
}

/// Elements of dimension 0 are taken `packet` at a time.
template <int N>
void make_places(Places<N>& places, int rank, const int64_t* sizes,
                 const int64_t* const (&strides)[N], int64_t packet) {
  places.rank = std::max(rank, 1);
  for (int k = 0; k < N; ++k) places.strides[k][0] = 0;
  for (int d = 0; d < rank; ++d) {
    const int64_t step = d == 0 ? packet : 1;
    places.sizes[d] = Divider(static_cast<uint32_t>(std::max<int64_t>(1, sizes[d] / step)));
    for (int k = 0; k < N; ++k) places.strides[k][d] = strides[k][d] * step;
  }
}

bool multiples(const int64_t* strides, int begin, int end, int64_t of) {
  return std::all_of(strides + begin, strides + std::max(begin, end),
                     [of](int64_t stride) { return stride % of == 0; });
}

bool aligned(const ReduceCall& call, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(call.in) % static_cast<uintptr_t>(bytes) == 0;
}

/// The launch for one part of the reduced elements.
struct Launch {
  ReduceCall call;
  bool columns;
  int64_t blocks;
};

void plan_rows(Launch& launch, const ReduceKernels& kernels, const ReducePlan& plan, int64_t fill) {
  ReduceCall& call = launch.call;
  const int64_t width = kernels.row_width, reduced = plan.reduced_numel;
  const int64_t* const strides = plan.in_reduced_strides;
  call.packed = plan.reduced_rank > 0 && strides[0] == 1 && plan.reduced_sizes[0] >= width &&
                (plan.reduced_rank == 1 || plan.reduced_sizes[0] % width == 0) &&
                multiples(strides, 1, plan.reduced_rank, width) &&
                multiples(plan.in_kept_strides, 0, plan.kept_rank, width) &&
                aligned(call, width * kernels.element_size);
  const int64_t packet = call.packed ? width : 1;
  const int64_t steps = reduced / packet;
  call.steps = static_cast<uint32_t>(steps);
  call.rest = static_cast<uint32_t>(reduced % packet);
  make_places<1>(call.reduced, plan.reduced_rank, plan.reduced_sizes, {strides}, packet);

  // Some lanes of a warp, where that leaves none idle for long; a block, where results are too few
  // for warps alone or rows are long.
  call.group_log = log2_up(ceil_div(std::max<int64_t>(1, steps), kStepsOfThread));
  const bool many = plan.kept_numel * kWarpSize >= fill * kReduceBlock;
  if (call.group_log > 5) {
    call.group_log = many && steps <= 4 * kStepsOfThread * kWarpSize ? 5 : log2_up(kReduceBlock);
  }
  const int64_t group = int64_t{1} << call.group_log;
  int64_t chunks = 1;
  if (group == kReduceBlock) {
    chunks = std::min(fill / plan.kept_numel, steps / (kReduceBlock * kStepsOfThread));
    chunks = std::max({int64_t{1}, chunks, ceil_div(steps, kReduceBlock * kLongestChain)});
  }
  const int64_t chunk = std::max<int64_t>(1, ceil_div(steps, chunks));
  chunks = std::max<int64_t>(1, ceil_div(steps, chunk));
  call.chunk = static_cast<uint32_t>(chunk);
  call.chunks = Divider(static_cast<uint32_t>(chunks));
  launch.blocks = ceil_div(plan.kept_numel * chunks, kReduceBlock / group);
}

void plan_columns(Launch& launch, const ReduceKernels& kernels, const ReducePlan& plan,
                  int64_t fill) {
  ReduceCall& call = launch.call;
  const int64_t packet = kernels.column_width, width = plan.kept_sizes[0];
  const int64_t rows = plan.reduced_numel;
  call.packed = plan.in_kept_strides[0] == 1 && width % packet == 0 &&
                multiples(plan.in_kept_strides, 1, plan.kept_rank, packet) &&
                multiples(plan.in_reduced_strides, 0, plan.reduced_rank, packet) &&
                aligned(call, packet * kernels.element_size);
  call.steps = static_cast<uint32_t>(rows);
  call.width = static_cast<uint32_t>(width);
  make_places<1>(call.reduced, plan.reduced_rank, plan.reduced_sizes, {plan.in_reduced_strides}, 1);

  // A warp reads neighbours in a row; the other warps of the block read further rows, if there are
  // any, else further columns.
  const uint32_t log_rows = std::min<uint32_t>(3, log2_up(rows));
  call.group_log = std::min(log2_up(ceil_div(width, packet)), log2_up(kReduceBlock) - log_rows);
  const int64_t lanes = int64_t{1} << call.group_log, side = kReduceBlock / lanes;
  const int64_t tiles = ceil_div(width, lanes * packet);
  call.tiles = Divider(static_cast<uint32_t>(tiles));
  const int64_t places = plan.kept_numel / width * tiles;
  int64_t chunks = std::min(fill / places, rows / (side * 2 * kStepsOfThread));
  chunks = std::max({int64_t{1}, chunks, ceil_div(rows, side * kLongestChain)});
  const int64_t chunk = ceil_div(rows, chunks);
  chunks = ceil_div(rows, chunk);
  call.chunk = static_cast<uint32_t>(chunk);
  call.chunks = Divider(static_cast<uint32_t>(chunks));
  launch.blocks = places * chunks;
}

Launch plan_launch(const ReduceKernels& kernels, const ReduceCall& call, const ReducePlan& plan,
                   int64_t start, const Stream& stream) {
  Launch launch{call, false, 0};
  launch.call.in = static_cast<const char*>(call.in) + start * kernels.element_size;
  // What fills the device, with a second helping for when blocks do not end together.
  const int64_t fill =
      2 * properties_of(stream.device).multi_processor_count * kBlocksOfMultiprocessor;
  launch.columns = plan.kept_rank > 0 && plan.reduced_rank > 0 &&
                   plan.in_kept_strides[0] < plan.in_reduced_strides[0];
  if (launch.columns)
    plan_columns(launch, kernels, plan, fill);
  else
    plan_rows(launch, kernels, plan, fill);
  return launch;
}

/// Dimension with the most elements.
int largest(int rank, const int64_t* sizes) {
  return static_cast<int>(std::max_element(sizes, sizes + rank) - sizes);
}

/// Calls piece(plan, start in the input, first position) for parts of the reduced elements.
template <class Piece>
Status for_each_part(const ReducePlan& plan, int64_t limit, const Piece& piece) {
  if (plan.reduced_numel <= limit) return piece(plan, int64_t{0}, int64_t{0});
  const int d = largest(plan.reduced_rank, plan.reduced_sizes);
  const int64_t size = plan.reduced_sizes[d], others = plan.reduced_numel / size;
  if (others > limit) return {Code::kInvalidValue, 0, 0, "a tensor of this shape is too large"};
  constexpr int64_t kRound = 16;  // so that packets of the later parts are aligned as well
  int64_t step = limit / others;
  if (step > kRound) step -= step % kRound;
  for (int64_t begin = 0; begin < size; begin += step) {
    ReducePlan part = plan;
    part.reduced_sizes[d] = std::min(step, size - begin);
    part.reduced_numel = others * part.reduced_sizes[d];
    TAPER_TRY(piece(part, begin * plan.in_reduced_strides[d], begin));
  }
  return {};
}

Status run_results(const ReduceKernels& kernels, ReduceCall& call, const ReducePlan& plan,
                   const Stream& stream, int64_t limit) {
  call.results = static_cast<uint32_t>(plan.kept_numel);
  make_places<2>(call.kept, plan.kept_rank, plan.kept_sizes,
                 {plan.in_kept_strides, plan.out_strides}, 1);
  uint32_t all_chunks = 0;
  TAPER_TRY(for_each_part(plan, limit, [&](const ReducePlan& part, int64_t start, int64_t) {
    all_chunks += plan_launch(kernels, call, part, start, stream).call.chunks.divisor;
    return Status{};
  }));
  call.all_chunks = all_chunks;
  const bool two_passes = all_chunks > 1;
  std::optional<Scratch<char>> partials;
  if (two_passes) {
    partials.emplace(stream, plan.kept_numel * all_chunks * kernels.partial_size);
    TAPER_TRY(partials->status());
    call.partials = partials->get();
  }

  uint32_t first_chunk = 0;
  TAPER_TRY(
      for_each_part(plan, limit, [&](const ReducePlan& part, int64_t start, int64_t position) {
        Launch pass = plan_launch(kernels, call, part, start, stream);
        pass.call.first_chunk = first_chunk;
        pass.call.position = position;
        first_chunk += pass.call.chunks.divisor;
        return launch(stream, pass.columns ? kernels.columns : kernels.rows,
                      dim3(static_cast<unsigned>(pass.blocks)), dim3(kReduceBlock), 0, pass.call);
      }));
  if (!two_passes) return {};
  const int64_t blocks = ceil_div(plan.kept_numel * kWarpSize, kReduceBlock);
  return launch(stream, kernels.fold, dim3(static_cast<unsigned>(blocks)), dim3(kReduceBlock), 0,
                call);
}

}  // namespace

Status run_reduction(const ReduceKernels& kernels, ReduceCall call, const ReducePlan& given,
                     const Stream& stream, int64_t limit) {
  if (given.kept_numel == 0) return {};
  const ReducePlan plan = in_memory_order(given);
  call.count = plan.reduced_numel;
  if (plan.kept_numel <= limit) return run_results(kernels, call, plan, stream, limit);
  // Too many results for one launch: slices of the largest dimension.
  const int d = largest(plan.kept_rank, plan.kept_sizes);
  const int64_t size = plan.kept_sizes[d], others = plan.kept_numel / size;
  if (others > limit) return {Code::kInvalidValue, 0, 0, "a tensor of this shape is too large"};
  const int64_t step = limit / others;
  for (int64_t begin = 0; begin < size; begin += step) {
    ReducePlan part = plan;
    part.kept_sizes[d] = std::min(step, size - begin);
    part.kept_numel = others * part.kept_sizes[d];
    ReduceCall slice = call;
    slice.in =
        static_cast<const char*>(call.in) + begin * plan.in_kept_strides[d] * kernels.element_size;
    slice.out_start = begin * plan.out_strides[d];
    TAPER_TRY(run_results(kernels, slice, part, stream, limit));
  }
  return {};
}

}  // namespace taper::kernels::cuda
