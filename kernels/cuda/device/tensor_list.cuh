#pragma once

#include "taper/kernels/cuda/device/row.cuh"

// Many tensors in one launch: their pointers travel in the kernel's arguments, which are 4 KB at
// most, and each block works on one chunk of one of them.

namespace taper::kernels::cuda {

constexpr int kListBlock = 256;

/// Up to kMax tensors; kPointers arrays of each take part, and each has an Extra of its own.
template <int kPointers, class Extra>
struct TensorBatch {
  static constexpr int kBytesEach = 8 * kPointers + 8 + 4 + 1 + static_cast<int>(sizeof(Extra));
  static constexpr int kMax = (4096 - 256) / kBytesEach;

  void* pointers[kPointers][kMax];
  int64_t numel[kMax];
  Extra extra[kMax];
  unsigned first_block[kMax + 1];  ///< of the grid; [count]: the number of blocks
  bool packed[kMax];               ///< all arrays are aligned to 16 bytes
  int count;
  int chunk;  ///< elements of a block, a multiple of 16
};

/// The part of a tensor that this block has.
struct TensorChunk {
  int tensor;
  int64_t begin;
  int size;
};
template <int kPointers, class Extra>
__device__ __forceinline__ TensorChunk chunk_of_block(const TensorBatch<kPointers, Extra>& batch) {
  int tensor = 0;
  // The last tensor that begins at this block or before it.
  for (int end = batch.count; end - tensor > 1;) {
    const int middle = (tensor + end) / 2;
    if (batch.first_block[middle] <= blockIdx.x) {
      tensor = middle;
    } else {
      end = middle;
    }
  }
  const int64_t begin = int64_t{blockIdx.x - batch.first_block[tensor]} * batch.chunk;
  const int64_t rest = batch.numel[tensor] - begin;
  return {tensor, begin, rest < batch.chunk ? static_cast<int>(rest) : batch.chunk};
}

template <class T, int kPointers, class Extra>
__device__ __forceinline__ T* pointer_of(const TensorBatch<kPointers, Extra>& batch,
                                         const TensorChunk& chunk, int array) {
  T* const all = static_cast<T*>(batch.pointers[array][chunk.tensor]);
  return all ? all + chunk.begin : nullptr;
}

/// Calls body(i, width) for this thread's elements of the chunk, in packs and single elements.
template <class T, class Body>
__device__ __forceinline__ void for_chunk(int size, bool packed, const Body& body) {
  for_row<T, kListBlock>(size, packed, body);
}

struct Nothing {};

}  // namespace taper::kernels::cuda
