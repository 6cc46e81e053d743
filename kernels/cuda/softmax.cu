#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/log_sum_exp.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"

// softmax and log_softmax. The largest element is subtracted first, so that exp cannot overflow. A
// row of -inf alone gives NaN, as does one with NaN or +inf in it.
//   softmax_rows_in_registers   the last dimension, one read and one write of memory (row.cuh)
//   softmax_rows_online         longer rows: maximum and sum in one pass, the result in a second
//   softmax_columns_online      any other dimension: threads side by side take columns

namespace taper::kernels::cuda {

namespace {

template <class T, int kThreads, int kPacks>
__global__ void __launch_bounds__(kRowBlock, kRowBlocks)
    softmax_rows_in_registers(T* out, const T* in, int64_t rows, int size, bool packed, bool log) {
  using C = compute_t<T>;
  using Group = RowGroup<kThreads>;
  // Threads without a row stay: their warp's shuffles need them.
  const int64_t row = Group::row();
  const RowShare<T, kThreads, kPacks> share(row < rows ? size : 0, packed);
  C x[share.kValues];
  share.load(x, in + row * size, minus_infinity<C>());
  C top = x[0];
#pragma unroll
  for (int k = 1; k < share.kValues; ++k) top = functors::max(x[k], top);
  top = Group::reduce(top, LargerFold());
  C sum = 0;
#pragma unroll
  for (int k = 0; k < share.kValues; ++k) {
    const C shifted = x[k] - top, e = functors::exp(shifted);
    if (share.has(k)) sum += e;
    x[k] = log ? shifted : e;
  }
  sum = Group::reduce(sum, AddFold());
  const C last = log ? functors::log(sum) : 1 / sum;
#pragma unroll
  for (int k = 0; k < share.kValues; ++k) x[k] = log ? x[k] - last : x[k] * last;
  share.store(out + row * size, x);
}

template <class T>
__global__ void __launch_bounds__(kRowBlock, kRowBlocks)
    softmax_rows_online(T* out, const T* in, int size, bool packed, bool log) {
  using C = compute_t<T>;
  in += int64_t{blockIdx.x} * size;
  out += int64_t{blockIdx.x} * size;
  ExpSum<C> mine;
  for_row<T, kRowBlock>(size, packed, [&](int i, auto width) {
    C x[width];
    load_pack<width>(x, in + i);
    mine.add(x);
  });
  const ExpSum<C> all = mine.template over<RowGroup<kRowBlock>>();
  const C last = log ? functors::log(all.sum) : 1 / all.sum;
  for_row<T, kRowBlock>(size, packed, [&](int i, auto width) {
    C x[width];
    load_pack<width>(x, in + i);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const C shifted = x[k] - all.top;
      x[k] = log ? shifted - last : functors::exp(shifted) * last;
    }
    store_pack<width>(out + i, x);
  });
}

/// Thread (c, r) of 32 x 8 takes column c's rows r, r + 8, ...
template <class T>
__global__ void __launch_bounds__(kRowBlock)
    softmax_columns_online(T* out, const T* in, int64_t columns, int size, int64_t inner,
                           bool log) {
  using C = compute_t<T>;
  TAPER_SHARED(C, tops, [kColumnRows][kColumns]);
  TAPER_SHARED(C, sums, [kColumnRows][kColumns]);
  const int c = threadIdx.x % kColumns, r = threadIdx.x / kColumns;
  const int64_t column = int64_t{blockIdx.x} * kColumns + c;
  const bool there = column < columns;
  const int64_t first = column / inner * (inner * size) + column % inner + r * inner;
  const int64_t step = kColumnRows * inner;
  ExpSum<C> mine;
  const T* from = in + first;
  for (int i = r; there && i < size; i += kColumnRows, from += step) {
    const C x[] = {widen(*from)};
    mine.add(x);
  }
  tops[r][c] = mine.top;
  sums[r][c] = mine.sum;
  __syncthreads();  // all rows' shares are there
  C top = tops[0][c], sum = 0;
#pragma unroll
  for (int k = 1; k < kColumnRows; ++k) top = functors::max(tops[k][c], top);
#pragma unroll
  for (int k = 0; k < kColumnRows; ++k) sum += sums[k][c] * functors::exp(tops[k][c] - top);
  const C last = log ? functors::log(sum) : 1 / sum;
  from = in + first;
  T* to = out + first;
  for (int i = r; there && i < size; i += kColumnRows, from += step, to += step) {
    const C shifted = widen(*from) - top;
    *to = narrow<T>(log ? shifted - last : functors::exp(shifted) * last);
  }
}

template <class T>
Status softmax_dtype(T* out, const T* in, const SoftmaxArgs& args, const Stream& stream) {
  const auto [outer, size, inner] = args.axis;
  if (inner > 1) {
    const int64_t columns = outer * inner;
    return launch(stream, softmax_columns_online<T>, ceil_div(columns, kColumns), kRowBlock, 0, out,
                  in, columns, size, inner, args.log);
  }
  const bool packed = size % kPackSize<T> == 0 && aligned_16(out, in);
  return choose_rows<T>(
      size,
      [&](auto threads, auto packs) {
        return launch(stream, softmax_rows_in_registers<T, threads, packs>,
                      ceil_div(args.axis.outer, RowGroup<threads>::kPerBlock), kRowBlock, 0, out,
                      in, args.axis.outer, args.axis.size, packed, args.log);
      },
      [&] {
        return launch(stream, softmax_rows_online<T>, ceil_div(args.axis.outer, 1), kRowBlock, 0,
                      out, in, args.axis.size, packed, args.log);
      });
}

}  // namespace

Status softmax_forward(void* out, const void* in, const SoftmaxArgs& args, Stream stream) {
  if (args.axis.outer * args.axis.size * args.axis.inner == 0) return {};
  if (args.axis.size > kMaxRow) return too_long();
  return for_floating(args.dtype, [&]<class T>(T) {
    return softmax_dtype(static_cast<T*>(out), static_cast<const T*>(in), args, stream);
  });
}

}  // namespace taper::kernels::cuda
