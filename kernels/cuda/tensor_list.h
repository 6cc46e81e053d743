#pragma once

#include "taper/kernels/cuda/device/tensor_list.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/kernels.h"

namespace taper::kernels::cuda {

/// Calls run(batch, blocks) for the tensors of args, as many at a time as a launch takes.
/// fill(tensor, pointers, extra) says which arrays take part. Empty tensors are passed over.
template <class Batch, class Fill, class Run>
Status for_tensor_batches(const OptimizerArgs& args, int chunk, const Fill& fill, const Run& run) {
  Batch batch;
  batch.chunk = chunk;
  batch.count = 0;
  batch.first_block[0] = 0;
  const auto flush = [&]() -> Status {
    if (batch.count == 0) return {};
    TAPER_TRY(run(batch, batch.first_block[batch.count]));
    batch.count = 0;
    return {};
  };
  for (int64_t i = 0; i < args.count; ++i) {
    const TensorRef& tensor = args.tensors[i];
    if (tensor.numel == 0) continue;
    const int at = batch.count++;
    void* pointers[std::size(batch.pointers)] = {};
    fill(tensor, pointers, batch.extra[at]);
    batch.packed[at] = true;
    for (size_t k = 0; k < std::size(pointers); ++k) {
      batch.pointers[k][at] = pointers[k];
      batch.packed[at] = batch.packed[at] && aligned_16(pointers[k]);
    }
    batch.numel[at] = tensor.numel;
    batch.first_block[at + 1] = batch.first_block[at] + ceil_div(tensor.numel, chunk);
    if (batch.count == Batch::kMax) TAPER_TRY(flush());
  }
  return flush();
}

}  // namespace taper::kernels::cuda
