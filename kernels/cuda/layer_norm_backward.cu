#include <algorithm>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/row.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"

// With h = weight * gradient and n the normalised input, grad_in = rstd * (h - mean(h) - n * mean(h
// * n)): rows as in the forward. The parameters' gradients are sums over columns, in two passes
// without atomics: chunks of rows, then the chunks.

namespace taper::kernels::cuda {

namespace {

template <class T, int kThreads, int kPacks>
__global__ void __launch_bounds__(kRowBlock, kRowBlocks)
    layer_norm_backward_rows_in_registers(T* grad_in, const T* grad, const T* in, const T* weight,
                                          const compute_t<T>* mean, const compute_t<T>* rstd,
                                          int64_t rows, int size, bool packed) {
  using C = compute_t<T>;
  using Group = RowGroup<kThreads>;
  // Threads without a row stay: their warp's shuffles need them.
  const int64_t row = Group::row();
  const bool there = row < rows;
  const RowShare<T, kThreads, kPacks> share(there ? size : 0, packed);
  const C centre = there ? mean[row] : C(0), scale = there ? rstd[row] : C(0);
  C h[share.kValues], n[share.kValues];
  share.load(h, grad + row * size, C(0));
  if (weight) {
    share.load(n, weight, C(0));
#pragma unroll
    for (int k = 0; k < share.kValues; ++k) h[k] *= n[k];
  }
  share.load(n, in + row * size, centre);
  C sum = 0, product = 0;
#pragma unroll
  for (int k = 0; k < share.kValues; ++k) {
    n[k] = (n[k] - centre) * scale;
    sum += h[k];
    product += h[k] * n[k];
  }
  const C mean_h = Group::reduce(sum, AddFold()) / static_cast<C>(size);
  const C mean_hn = Group::reduce(product, AddFold()) / static_cast<C>(size);
#pragma unroll
  for (int k = 0; k < share.kValues; ++k) h[k] = (h[k] - mean_h - n[k] * mean_hn) * scale;
  share.store(grad_in + row * size, h);
}

/// The parts of h and n that a pack holds.
template <int N, class T>
__device__ __forceinline__ void load_h_and_n(compute_t<T> (&h)[N], compute_t<T> (&n)[N],
                                             const T* grad, const T* in, const T* weight,
                                             compute_t<T> centre, compute_t<T> scale) {
  compute_t<T> w[N];
  load_pack<N>(h, grad);
  load_pack<N>(n, in);
  load_pack_or<N>(w, weight, 0, 1);
#pragma unroll
  for (int k = 0; k < N; ++k) {
    h[k] *= w[k];
    n[k] = (n[k] - centre) * scale;
  }
}

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    layer_norm_backward_rows_two_pass(T* grad_in, const T* grad, const T* in, const T* weight,
                                      const compute_t<T>* mean, const compute_t<T>* rstd, int size,
                                      bool packed) {
  using C = compute_t<T>;
  const int64_t row = int64_t{blockIdx.x} * size;
  const C centre = mean[blockIdx.x], scale = rstd[blockIdx.x];
  C sum = 0, product = 0;
  for_row<T, kRowBlock>(size, packed, [&](int i, auto width) {
    C h[width], n[width];
    load_h_and_n<width>(h, n, grad + row + i, in + row + i, weight ? weight + i : nullptr, centre,
                        scale);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      sum += h[k];
      product += h[k] * n[k];
    }
  });
  const C mean_h = block_reduce<kRowBlock>(sum, AddFold()) / static_cast<C>(size);
  const C mean_hn = block_reduce<kRowBlock>(product, AddFold()) / static_cast<C>(size);
  for_row<T, kRowBlock>(size, packed, [&](int i, auto width) {
    C h[width], n[width];
    load_h_and_n<width>(h, n, grad + row + i, in + row + i, weight ? weight + i : nullptr, centre,
                        scale);
#pragma unroll
    for (int k = 0; k < width; ++k) h[k] = (h[k] - mean_h - n[k] * mean_hn) * scale;
    store_pack<width>(grad_in + row + i, h);
  });
}

/// Sums of gradient * n and of the gradient over one chunk of rows (blockIdx.y), 32 columns a
/// block: thread (c, r) of 32 x 8 adds column c's rows r, r + 8, ... of the chunk.
template <class T>
__global__ void __launch_bounds__(kRowBlock)
    layer_norm_parameters_chunks(compute_t<T>* partials, const T* grad, const T* in,
                                 const compute_t<T>* mean, const compute_t<T>* rstd, int64_t rows,
                                 int64_t chunk, int size) {
  using C = compute_t<T>;
  TAPER_SHARED(C, weight_sums, [kColumnRows][kColumns]);
  TAPER_SHARED(C, bias_sums, [kColumnRows][kColumns]);
  const int c = threadIdx.x % kColumns, r = threadIdx.x / kColumns;
  const int column = blockIdx.x * kColumns + c;
  const int64_t first = blockIdx.y * chunk, last = first + chunk < rows ? first + chunk : rows;
  C weight_sum = 0, bias_sum = 0;
  for (int64_t row = first + r; column < size && row < last; row += kColumnRows) {
    const C g = widen(grad[row * size + column]);
    weight_sum += g * ((widen(in[row * size + column]) - mean[row]) * rstd[row]);
    bias_sum += g;
  }
  weight_sums[r][c] = weight_sum;
  bias_sums[r][c] = bias_sum;
  __syncthreads();  // all rows' shares are there
  if (r > 1 || column >= size) return;
  // Warp 0 adds up the weight's, warp 1 the bias's.
  C sum = 0;
#pragma unroll
  for (int k = 0; k < kColumnRows; ++k) sum += r == 0 ? weight_sums[k][c] : bias_sums[k][c];
  partials[(int64_t{blockIdx.y} * 2 + r) * size + column] = sum;
}

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    layer_norm_parameters_finish(T* grad_weight, T* grad_bias, const compute_t<T>* partials,
                                 int chunks, int size) {
  const int column = blockIdx.x * kRowBlock + threadIdx.x;
  if (column >= size) return;
  double weight_sum = 0, bias_sum = 0;
  for (int64_t k = 0; k < chunks; ++k) {
    weight_sum += static_cast<double>(partials[k * 2 * size + column]);
    bias_sum += static_cast<double>(partials[(k * 2 + 1) * size + column]);
  }
  if (grad_weight) grad_weight[column] = narrow<T>(static_cast<compute_t<T>>(weight_sum));
  if (grad_bias) grad_bias[column] = narrow<T>(static_cast<compute_t<T>>(bias_sum));
}

template <class T>
Status parameter_gradients(T* grad_weight, T* grad_bias, const T* grad, const T* in,
                           const compute_t<T>* mean, const compute_t<T>* rstd,
                           const LayerNormArgs& args, const Stream& stream) {
  using C = compute_t<T>;
  // Some 512 blocks, of 64 rows at least. The shape alone decides: sums come out the same on every
  // card.
  const int64_t tiles = ceil_div(args.size, kColumns);
  const int64_t most = std::clamp<int64_t>(512 / tiles, 1, 64);
  const int64_t chunk = std::max<int64_t>(64, ceil_div(args.rows, most));
  const int64_t chunks = ceil_div(args.rows, chunk);
  Scratch<C> partials(stream, chunks * 2 * args.size);
  TAPER_TRY(partials.status());
  if (chunks > 0) {
    TAPER_TRY(launch(stream, layer_norm_parameters_chunks<T>,
                     dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(chunks)), kRowBlock,
                     0, partials.get(), grad, in, mean, rstd, args.rows, chunk, args.size));
  }
  return launch(stream, layer_norm_parameters_finish<T>, ceil_div(args.size, kRowBlock), kRowBlock,
                0, grad_weight, grad_bias, partials.get(), chunks, args.size);
}

template <class T>
Status input_gradient(T* grad_in, const T* grad, const T* in, const compute_t<T>* mean,
                      const compute_t<T>* rstd, const LayerNormArgs& args, const Stream& stream) {
  const T* weight = static_cast<const T*>(args.weight);
  const bool packed = args.size % kPackSize<T> == 0 && aligned_16(grad_in, grad, in, weight);
  return choose_rows<T>(
      args.size,
      [&](auto threads, auto packs) {
        return launch(stream, layer_norm_backward_rows_in_registers<T, threads, packs>,
                      ceil_div(args.rows, RowGroup<threads>::kPerBlock), kRowBlock, 0, grad_in,
                      grad, in, weight, mean, rstd, args.rows, args.size, packed);
      },
      [&] {
        return launch(stream, layer_norm_backward_rows_two_pass<T>, ceil_div(args.rows, 1),
                      kRowBlock, 0, grad_in, grad, in, weight, mean, rstd, args.size, packed);
      });
}

}  // namespace

Status layer_norm_backward(void* grad_in, void* grad_weight, void* grad_bias, const void* grad_out,
                           const void* in, const void* mean, const void* rstd,
                           const LayerNormArgs& args, Stream stream) {
  if (args.size == 0) return {};
  if (args.size > kMaxRow) return too_long();
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    const T* grad = static_cast<const T*>(grad_out);
    const T* input = static_cast<const T*>(in);
    const C* centre = static_cast<const C*>(mean);
    const C* scale = static_cast<const C*>(rstd);
    if (grad_in && args.rows > 0) {
      TAPER_TRY(input_gradient(static_cast<T*>(grad_in), grad, input, centre, scale, args, stream));
    }
    if (!grad_weight && !grad_bias) return Status{};
    return parameter_gradients(static_cast<T*>(grad_weight), static_cast<T*>(grad_bias), grad,
                               input, centre, scale, args, stream);
  });
}

}  // namespace taper::kernels::cuda
