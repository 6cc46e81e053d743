#include "taper/kernels/cuda/scan.h"

#include <algorithm>
#include <optional>

#include "taper/kernels/cuda/kernels.h"

namespace taper::kernels::cuda {

namespace {

/// Rows that a thread goes along by itself: a warp would leave most of its lanes idle.
constexpr int64_t kShortRow = 16;
/// Fewer elements than these for a thread are not worth a pass more over the input.
constexpr int64_t kLeastElementsOfThread = 16;
constexpr int64_t kMostChunks = 65535;  // what the y dimension of a grid can have

int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

ScanKernels find(ScanOp op, ScalarType dtype) {
  switch (op) {
    case ScanOp::kSum:
      return find_sum_scan(dtype);
    case ScanOp::kProd:
      return find_product_scan(dtype);
    case ScanOp::kLogSumExp:
      return find_log_sum_exp_scan(dtype);
    case ScanOp::kMax:
    case ScanOp::kMin:
      return find_extreme_scan(op == ScanOp::kMax, dtype);
  }
  return {};
}

}  // namespace

Status scan(ScanOp op, void* out, int64_t* indices, const void* in, ScalarType dtype,
            const AxisPlan& axis, Stream stream) {
  const ScanKernels kernels = find(op, dtype);
  if (!kernels.columns) return unsupported();
  if (axis.outer == 0 || axis.size == 0 || axis.inner == 0) return {};
  ScanCall call{};
  call.in = in;
  call.out = out;
  call.indices = indices;
  call.lines = axis.outer * axis.inner;
  call.size = axis.size;
  call.inner = axis.inner;
  const int64_t width = kernels.width;
  const auto packet = static_cast<size_t>(width * kernels.element_size);
  call.packed = axis.size % width == 0 && aligned_to(packet, in, out) && aligned_16(indices);

  const int64_t fill = 2048 / kScanBlock * properties_of(stream.device).multi_processor_count;
  ScanKernels::Kernel kernel = kernels.columns;
  int64_t blocks = quotient_up(call.lines, kScanBlock);
  int64_t least = kLeastElementsOfThread;  // elements that a chunk has
  if (axis.inner == 1 && axis.size > kShortRow) {
    // A block goes along a row in tiles of kScanBlock * width; short rows would fill but a part.
    const int64_t warp_tile = kWarpSize * width;
    const int64_t tiles_of_warp = call.lines * kWarpSize >= fill * kScanBlock ? 8 : 2;
    if (axis.size <= warp_tile * tiles_of_warp) {
      kernel = kernels.rows_of_warp;
      blocks = quotient_up(call.lines, kScanBlock / kWarpSize);
      least = axis.size;
    } else {
      kernel = kernels.rows_of_block;
      blocks = call.lines;
      least = kScanBlock * std::max(width, kLeastElementsOfThread);
    }
  }
  int64_t chunks = std::clamp<int64_t>(std::min(fill / blocks, axis.size / least), 1, kMostChunks);
  call.chunk = quotient_up(quotient_up(axis.size, chunks), width) * width;
  chunks = quotient_up(axis.size, call.chunk);

  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(chunks));
  std::optional<Scratch<char>> carries;
  if (chunks > 1) {
    carries.emplace(stream, call.lines * chunks * kernels.carry_size);
    TAPER_TRY(carries->status());
    call.carries = carries->get();
    ScanCall first = call;
    first.totals_only = true;
    TAPER_TRY(launch(stream, kernel, grid, dim3(kScanBlock), 0, first));
    TAPER_TRY(kernels.carries(call.carries, call.lines, chunks, stream));
  }
  return launch(stream, kernel, grid, dim3(kScanBlock), 0, call);
}

}  // namespace taper::kernels::cuda
