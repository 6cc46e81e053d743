#include "taper/kernels/cuda/context.h"

namespace taper::kernels::cuda {

Status allocate(void** memory, size_t bytes, Stream) {
  *memory = nullptr;
  if (bytes) TAPER_CUDA_TRY(cudaMalloc(memory, bytes));
  return {};
}

void release(void* memory) { cudaFree(memory); }

}  // namespace taper::kernels::cuda
