#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/row.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/functors/math.h"

// With y the result and g its gradient: (g - sum(g * y)) * y for softmax, g - exp(y) * sum(g) for
// log_softmax. The kernels are chosen as those of the forward.

namespace taper::kernels::cuda {

namespace {

template <class C>
__device__ __forceinline__ C gradient(C g, C y, C sum, bool log) {
  return log ? g - functors::exp(y) * sum : (g - sum) * y;
}

template <class T, int kThreads, int kPacks>
__global__ void __launch_bounds__(kRowBlock, kRowBlocks)
    softmax_backward_rows_in_registers(T* grad_in, const T* grad_out, const T* out, int64_t rows,
                                       int size, bool packed, bool log) {
  using C = compute_t<T>;
  using Group = RowGroup<kThreads>;
  // Threads without a row stay: their warp's shuffles need them.
  const int64_t row = Group::row();
  const RowShare<T, kThreads, kPacks> share(row < rows ? size : 0, packed);
  C g[share.kValues], y[share.kValues];
  share.load(g, grad_out + row * size, C(0));
  share.load(y, out + row * size, C(0));
  C sum = 0;
#pragma unroll
  for (int k = 0; k < share.kValues; ++k) sum += log ? g[k] : g[k] * y[k];
  sum = Group::reduce(sum, AddFold());
#pragma unroll
  for (int k = 0; k < share.kValues; ++k) g[k] = gradient(g[k], y[k], sum, log);
  share.store(grad_in + row * size, g);
}

template <class T>
__global__ void __launch_bounds__(kRowBlock, kRowBlocks)
    softmax_backward_rows_two_pass(T* grad_in, const T* grad_out, const T* out, int size,
                                   bool packed, bool log) {
  using C = compute_t<T>;
  const int64_t row = int64_t{blockIdx.x} * size;
  C sum = 0;
  for_row<T, kRowBlock>(size, packed, [&](int i, auto width) {
    C g[width], y[width];
    load_pack<width>(g, grad_out + row + i);
    load_pack<width>(y, out + row + i);
#pragma unroll
    for (int k = 0; k < width; ++k) sum += log ? g[k] : g[k] * y[k];
  });
  sum = block_reduce<kRowBlock>(sum, AddFold());
  for_row<T, kRowBlock>(size, packed, [&](int i, auto width) {
    C g[width], y[width];
    load_pack<width>(g, grad_out + row + i);
    load_pack<width>(y, out + row + i);
#pragma unroll
    for (int k = 0; k < width; ++k) g[k] = gradient(g[k], y[k], sum, log);
    store_pack<width>(grad_in + row + i, g);
  });
}

/// Thread (c, r) of 32 x 8 takes column c's rows r, r + 8, ...
template <class T>
__global__ void __launch_bounds__(kRowBlock)
    softmax_backward_columns_two_pass(T* grad_in, const T* grad_out, const T* out, int64_t columns,
                                      int size, int64_t inner, bool log) {
  using C = compute_t<T>;
  TAPER_SHARED(C, sums, [kColumnRows][kColumns]);
  const int c = threadIdx.x % kColumns, r = threadIdx.x / kColumns;
  const int64_t column = int64_t{blockIdx.x} * kColumns + c;
  const bool there = column < columns;
  const int64_t first = column / inner * (inner * size) + column % inner + r * inner;
  const int64_t step = kColumnRows * inner;
  C mine = 0;
  int64_t at = first;
  for (int i = r; there && i < size; i += kColumnRows, at += step) {
    const C g = widen(grad_out[at]);
    mine += log ? g : g * widen(out[at]);
  }
  sums[r][c] = mine;
  __syncthreads();  // all rows' shares are there
  C sum = 0;
#pragma unroll
  for (int k = 0; k < kColumnRows; ++k) sum += sums[k][c];
  at = first;
  for (int i = r; there && i < size; i += kColumnRows, at += step) {
    grad_in[at] = narrow<T>(gradient(widen(grad_out[at]), widen(out[at]), sum, log));
  }
}

template <class T>
Status softmax_backward_dtype(T* grad_in, const T* grad_out, const T* out, const SoftmaxArgs& args,
                              const Stream& stream) {
  const auto [outer, size, inner] = args.axis;
  if (inner > 1) {
    const int64_t columns = outer * inner;
    return launch(stream, softmax_backward_columns_two_pass<T>, ceil_div(columns, kColumns),
                  kRowBlock, 0, grad_in, grad_out, out, columns, size, inner, args.log);
  }
  const bool packed = size % kPackSize<T> == 0 && aligned_16(grad_in, grad_out, out);
  return choose_rows<T>(
      size,
      [&](auto threads, auto packs) {
        return launch(stream, softmax_backward_rows_in_registers<T, threads, packs>,
                      ceil_div(args.axis.outer, RowGroup<threads>::kPerBlock), kRowBlock, 0,
                      grad_in, grad_out, out, args.axis.outer, args.axis.size, packed, args.log);
      },
      [&] {
        return launch(stream, softmax_backward_rows_two_pass<T>, ceil_div(args.axis.outer, 1),
                      kRowBlock, 0, grad_in, grad_out, out, args.axis.size, packed, args.log);
      });
}

}  // namespace

Status softmax_backward(void* grad_in, const void* grad_out, const void* out,
                        const SoftmaxArgs& args, Stream stream) {
  if (args.axis.outer * args.axis.size * args.axis.inner == 0) return {};
  if (args.axis.size > kMaxRow) return too_long();
  return for_floating(args.dtype, [&]<class T>(T) {
    return softmax_backward_dtype(static_cast<T*>(grad_in), static_cast<const T*>(grad_out),
                                  static_cast<const T*>(out), args, stream);
  });
}

}  // namespace taper::kernels::cuda
