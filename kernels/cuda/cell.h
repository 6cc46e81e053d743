#pragma once

#include "taper/kernels/cuda/device/cell.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/kernels.h"

namespace taper::kernels::cuda {

/// Calls run(first row, steps, blocks, std::integral_constant<int, N>) for parts of the batch whose
/// gates have 32-bit indices, N being the elements that a thread takes at once: a pack if rows of
/// `hidden` and all operands (`aligned`) are made of such.
template <class T, int kGates, class Run>
Status for_cell_batches(const RecurrentCellArgs& args, bool aligned, const Stream& stream,
                        const Run& run) {
  if (args.batch * args.hidden == 0) return {};
  const int64_t row = kGates * args.hidden;
  if (row > kMaxRow) return too_long();
  const int64_t at_once = kMaxRow / row;
  const bool packed = aligned && args.hidden % kPackSize<T> == 0;
  for (int64_t first = 0; first < args.batch; first += at_once) {
    const int64_t count = std::min(at_once, args.batch - first) * args.hidden;
    const int64_t steps = packed ? count / kPackSize<T> : count;
    const unsigned blocks = elementwise_blocks((steps + 1) / 2, stream);
    TAPER_TRY(packed ? run(first, steps, blocks, std::integral_constant<int, kPackSize<T>>())
                     : run(first, steps, blocks, std::integral_constant<int, 1>()));
  }
  return {};
}

/// The pointer moved by `count` elements; null stays null.
template <class T>
T* moved(T* pointer, int64_t count) {
  return pointer ? pointer + count : nullptr;
}

}  // namespace taper::kernels::cuda
