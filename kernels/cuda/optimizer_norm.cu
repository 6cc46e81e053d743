#include <limits>

#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/tensor_list.h"
#include "taper/kernels/functors/math.h"

// The norms of a whole list of gradients, in two passes: chunks in the dtype's type of computation,
// then the chunks of each tensor in double. What is added to what depends on the sizes alone.

namespace taper::kernels::cuda {

namespace {

constexpr int kChunk = 16 * 1024;  // elements of a block: 64 a thread

using GradBatch = TensorBatch<1, Nothing>;

// What an element contributes (map), how contributions become one (Fold), and the result.
struct Sum {
  using Fold = AddFold;
  static constexpr double kIdentity = 0;
  static __device__ __forceinline__ double result(double all, double) { return all; }
};
struct NormL2 : Sum {
  template <class C>
  static __device__ __forceinline__ C map(C x, C) {
    return x * x;
  }
  static __device__ __forceinline__ double result(double all, double) { return ::sqrt(all); }
};
struct NormL1 : Sum {
  template <class C>
  static __device__ __forceinline__ C map(C x, C) {
    return functors::abs(x);
  }
};
/// The 0-norm: how many are not zero.
struct Norm0 : Sum {
  template <class C>
  static __device__ __forceinline__ C map(C x, C) {
    return x != 0;
  }
};
struct NormP : Sum {
  template <class C>
  static __device__ __forceinline__ C map(C x, C p) {
    return functors::pow(functors::abs(x), p);
  }
  static __device__ __forceinline__ double result(double all, double p) {
    return ::pow(all, 1 / p);
  }
};
struct NormInf : NormL1 {
  using Fold = MaxFold;
};
struct NormNegInf : NormL1 {
  using Fold = MinFold;
  static constexpr double kIdentity = __builtin_huge_val();
};

template <class Op, class T>
__global__ void __launch_bounds__(kListBlock)
    multi_norm_chunks(compute_t<T>* partials, GradBatch batch, compute_t<T> p) {
  using C = compute_t<T>;
  const typename Op::Fold fold;
  const TensorChunk chunk = chunk_of_block(batch);
  const T* const grad = pointer_of<const T>(batch, chunk, 0);
  C mine = static_cast<C>(Op::kIdentity);
  for_chunk<T>(chunk.size, batch.packed[chunk.tensor], [&](int i, auto width) {
    C g[width];
    load_pack<width>(g, grad + i);
#pragma unroll
    for (int k = 0; k < width; ++k) mine = fold(mine, Op::map(g[k], p));
  });
  mine = block_reduce<kListBlock>(mine, fold);
  if (threadIdx.x == 0) partials[blockIdx.x] = mine;
}

/// The partial results of up to kMax tensors: tensor i has those from starts[i] to starts[i + 1].
struct NormParts {
  static constexpr int kMax = 400;
  int64_t starts[kMax + 1];
};

template <class Op, class C>
__global__ void __launch_bounds__(kListBlock)
    multi_norm_finish(C* norms, const C* partials, NormParts parts, double p) {
  const typename Op::Fold fold;
  const int64_t begin = parts.starts[blockIdx.x], end = parts.starts[blockIdx.x + 1];
  double mine = Op::kIdentity;
  for (int64_t i = begin + threadIdx.x; i < end; i += kListBlock) {
    mine = fold(mine, static_cast<double>(partials[i]));
  }
  mine = block_reduce<kListBlock>(mine, fold);
  // The norm of nothing is 0.
  if (threadIdx.x == 0) norms[blockIdx.x] = static_cast<C>(begin < end ? Op::result(mine, p) : 0);
}

template <class Op, class T>
Status norms_with(compute_t<T>* norms, const OptimizerArgs& args, double p, const Stream& stream) {
  using C = compute_t<T>;
  int64_t total = 0;
  for (int64_t i = 0; i < args.count; ++i) total += ceil_div(args.tensors[i].numel, kChunk);
  Scratch<C> partials(stream, total);
  TAPER_TRY(partials.status());
  C* to = partials.get();
  TAPER_TRY(for_tensor_batches<GradBatch>(
      args, kChunk,
      [](const TensorRef& tensor, void** pointers, Nothing&) {
        pointers[0] = const_cast<void*>(tensor.grad);
      },
      [&](const GradBatch& batch, unsigned blocks) {
        const Status status = launch(stream, multi_norm_chunks<Op, T>, blocks, kListBlock, 0, to,
                                     batch, static_cast<C>(p));
        to += blocks;
        return status;
      }));
  int64_t start = 0;
  for (int64_t first = 0; first < args.count; first += NormParts::kMax) {
    const int64_t count = std::min<int64_t>(NormParts::kMax, args.count - first);
    NormParts parts;
    for (int64_t i = 0; i < count; ++i) {
      parts.starts[i] = start;
      start += ceil_div(args.tensors[first + i].numel, kChunk);
    }
    parts.starts[count] = start;
    TAPER_TRY(launch(stream, multi_norm_finish<Op, C>, ceil_div(count, 1), kListBlock, 0,
                     norms + first, partials.get(), parts, p));
  }
  return {};
}

}  // namespace

Status multi_norm(void* norms, const OptimizerArgs& args, double p, Stream stream) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return for_floating(args.dtype, [&]<class T>(T) {
    auto* const to = static_cast<compute_t<T>*>(norms);
    if (p == 2) return norms_with<NormL2, T>(to, args, p, stream);
    if (p == 1) return norms_with<NormL1, T>(to, args, p, stream);
    if (p == 0) return norms_with<Norm0, T>(to, args, p, stream);
    if (p == kInfinity) return norms_with<NormInf, T>(to, args, p, stream);
    if (p == -kInfinity) return norms_with<NormNegInf, T>(to, args, p, stream);
    return norms_with<NormP, T>(to, args, p, stream);
  });
}

}  // namespace taper::kernels::cuda
