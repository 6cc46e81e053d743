#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/tensor_list.h"
#include "taper/kernels/functors/math.h"

// What clipping, gradient scaling and zero_grad do to a whole list of tensors. (Norms:
// optimizer_norm.cu.)

namespace taper::kernels::cuda {

namespace {

constexpr int kChunk = 4096;  // elements of a block: 16 a thread

using OneBatch = TensorBatch<1, Nothing>;

template <class T>
__global__ void __launch_bounds__(kListBlock)
    multi_scale_chunks(OneBatch batch, compute_t<T> factor, const T* device_factor) {
  const TensorChunk chunk = chunk_of_block(batch);
  T* const param = pointer_of<T>(batch, chunk, 0);
  const compute_t<T> by = device_factor ? widen(*device_factor) : factor;
  for_chunk<T>(chunk.size, batch.packed[chunk.tensor], [&](int i, auto width) {
    compute_t<T> p[width];
    load_pack<width>(p, param + i);
#pragma unroll
    for (int k = 0; k < width; ++k) p[k] *= by;
    store_pack<width>(param + i, p);
  });
}

template <class T>
__global__ void __launch_bounds__(kListBlock)
    multi_unscale_chunks(OneBatch batch, float* found_inf, const float* inv_scale) {
  using C = compute_t<T>;
  const TensorChunk chunk = chunk_of_block(batch);
  T* const grad = pointer_of<T>(batch, chunk, 0);
  const C by = *inv_scale;
  C strange = 0;  // becomes NaN with the first infinity or NaN
  for_chunk<T>(chunk.size, batch.packed[chunk.tensor], [&](int i, auto width) {
    C g[width];
    load_pack<width>(g, grad + i);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      strange += g[k] * 0;
      g[k] *= by;
    }
    store_pack<width>(grad + i, g);
  });
  // One store a block at most; atomic, since other blocks write the same word.
  if (__syncthreads_or(strange != 0) && threadIdx.x == 0) atomicExch(found_inf, 1.0f);
}

__global__ void __launch_bounds__(kListBlock) multi_zero_chunks(OneBatch batch) {
  const TensorChunk chunk = chunk_of_block(batch);
  auto* const bytes = pointer_of<unsigned char>(batch, chunk, 0);
  for_chunk<unsigned char>(chunk.size, batch.packed[chunk.tensor], [&](int i, auto width) {
    if constexpr (width == 16) {
      *reinterpret_cast<uint4*>(bytes + i) = uint4{0, 0, 0, 0};
    } else {
      bytes[i] = 0;
    }
  });
}

void only_param(const TensorRef& tensor, void** pointers, Nothing&) { pointers[0] = tensor.param; }
// The gradients are read only elsewhere; here they are what is written.
void only_grad(const TensorRef& tensor, void** pointers, Nothing&) {
  pointers[0] = const_cast<void*>(tensor.grad);
}

}  // namespace

Status multi_scale(const OptimizerArgs& args, double factor, const void* device_factor,
                   Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    return for_tensor_batches<OneBatch>(
        args, kChunk, only_param, [&](const OneBatch& batch, unsigned blocks) {
          return launch(stream, multi_scale_chunks<T>, blocks, kListBlock, 0, batch,
                        static_cast<compute_t<T>>(factor), static_cast<const T*>(device_factor));
        });
  });
}

Status multi_unscale(const OptimizerArgs& args, float* found_inf, const float* inv_scale,
                     Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    return for_tensor_batches<OneBatch>(args, kChunk, only_grad,
                                        [&](const OneBatch& batch, unsigned blocks) {
                                          return launch(stream, multi_unscale_chunks<T>, blocks,
                                                        kListBlock, 0, batch, found_inf, inv_scale);
                                        });
  });
}

Status multi_zero(const OptimizerArgs& args, Stream stream) {
  const auto size = static_cast<int64_t>(element_size(args.dtype));
  return for_tensor_batches<OneBatch>(
      args, static_cast<int>(16 * 1024 / size), only_param, [&](OneBatch batch, unsigned blocks) {
        // As bytes, whatever the dtype.
        for (int i = 0; i < batch.count; ++i) batch.numel[i] *= size;
        batch.chunk = 16 * 1024;
        return launch(stream, multi_zero_chunks, blocks, kListBlock, 0, batch);
      });
}

}  // namespace taper::kernels::cuda
