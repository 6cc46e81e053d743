#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/row.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/functors/math.h"

// Layer normalisation over rows.
//   layer_norm_rows_in_registers   one read and one write of memory; the variance from the
//   distances
//                                  to the mean that is known by then
//   layer_norm_rows_welford        longer rows: mean and variance in one pass (packs merged by the
//                                  formula of Chan, Golub and LeVeque), the result in a second

namespace taper::kernels::cuda {

namespace {

/// The affine parameters; null stands for 1 and 0.
template <class T>
struct Affine {
  const T* weight;
  const T* bias;

  template <int N>
  __device__ __forceinline__ void apply(compute_t<T> (&x)[N], int at) const {
    compute_t<T> w[N], b[N];
    load_pack_or<N>(w, weight, at, 1);
    load_pack_or<N>(b, bias, at, 0);
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = x[i] * w[i] + b[i];
  }
};

template <class C>
__device__ __forceinline__ C reciprocal_root_of(C variance, double eps) {
  return 1 / functors::sqrt(variance + static_cast<C>(eps));
}

template <class T, int kThreads, int kPacks>
__global__ void __launch_bounds__(kRowBlock)
    layer_norm_rows_in_registers(T* out, compute_t<T>* mean, compute_t<T>* rstd, const T* in,
                                 int64_t rows, int size, bool packed, Affine<T> affine,
                                 double eps) {
  using C = compute_t<T>;
  using Group = RowGroup<kThreads>;
  // Threads without a row stay: their warp's shuffles need them.
  const int64_t row = Group::row();
  const bool there = row < rows;
  const RowShare<T, kThreads, kPacks> share(there ? size : 0, packed);
  constexpr int kWidth = share.kWidth;
  C x[share.kValues];
  share.load(x, in + row * size, C(0));
  C sum = 0, squares = 0;
#pragma unroll
  for (int k = 0; k < share.kValues; ++k) sum += x[k];
  const C centre = Group::reduce(sum, AddFold()) / static_cast<C>(size);
#pragma unroll
  for (int k = 0; k < share.kValues; ++k) {
    x[k] -= centre;
    if (share.has(k)) squares += x[k] * x[k];
  }
  const C scale = reciprocal_root_of(Group::reduce(squares, AddFold()) / static_cast<C>(size), eps);
  if (there && Group::thread() == 0) {
    mean[row] = centre;
    rstd[row] = scale;
  }
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    C part[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) part[i] = x[p * kWidth + i] * scale;
    if (packed) {
      if (share.has(p * kWidth)) affine.apply(part, share.position(p * kWidth));
    } else {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        C one[] = {part[i]};
        if (share.has(p * kWidth + i)) affine.apply(one, share.position(p * kWidth + i));
        part[i] = one[0];
      }
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) x[p * kWidth + i] = part[i];
  }
  share.store(out + row * size, x);
}

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    layer_norm_rows_welford(T* out, compute_t<T>* mean, compute_t<T>* rstd, const T* in, int size,
                            bool packed, Affine<T> affine, double eps) {
  using C = compute_t<T>;
  in += int64_t{blockIdx.x} * size;
  out += int64_t{blockIdx.x} * size;
  Moments<C> mine{0, 0, 0};
  for_row<T, kRowBlock>(size, packed, [&](int i, auto width) {
    C x[width];
    load_pack<width>(x, in + i);
    mine = MergeMoments()(mine, moments_of(x));
  });
  const Moments<C> all = block_reduce<kRowBlock>(mine, MergeMoments());
  const C scale = reciprocal_root_of(all.m2 / static_cast<C>(size), eps);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = all.mean;
    rstd[blockIdx.x] = scale;
  }
  for_row<T, kRowBlock>(size, packed, [&](int i, auto width) {
    C x[width];
    load_pack<width>(x, in + i);
#pragma unroll
    for (int k = 0; k < width; ++k) x[k] = (x[k] - all.mean) * scale;
    affine.apply(x, i);
    store_pack<width>(out + i, x);
  });
}

/// The statistics of rows that have no element.
template <class C>
__global__ void __launch_bounds__(kRowBlock)
    layer_norm_of_nothing(C* mean, C* rstd, int64_t rows, double eps) {
  const int64_t row = int64_t{blockIdx.x} * kRowBlock + threadIdx.x;
  if (row >= rows) return;
  mean[row] = 0;
  rstd[row] = reciprocal_root_of(C(0), eps);
}

template <class T>
Status layer_norm_dtype(T* out, compute_t<T>* mean, compute_t<T>* rstd, const T* in,
                        const LayerNormArgs& args, const Stream& stream) {
  using C = compute_t<T>;
  if (args.size == 0) {
    return launch(stream, layer_norm_of_nothing<C>, ceil_div(args.rows, kRowBlock), kRowBlock, 0,
                  mean, rstd, args.rows, args.eps);
  }
  const Affine<T> affine{static_cast<const T*>(args.weight), static_cast<const T*>(args.bias)};
  const bool packed =
      args.size % kPackSize<T> == 0 && aligned_16(out, in, affine.weight, affine.bias);
  return choose_rows<T>(
      args.size,
      [&](auto threads, auto packs) {
        return launch(stream, layer_norm_rows_in_registers<T, threads, packs>,
                      ceil_div(args.rows, RowGroup<threads>::kPerBlock), kRowBlock, 0, out, mean,
                      rstd, in, args.rows, args.size, packed, affine, args.eps);
      },
      [&] {
        return launch(stream, layer_norm_rows_welford<T>, ceil_div(args.rows, 1), kRowBlock, 0, out,
                      mean, rstd, in, args.size, packed, affine, args.eps);
      });
}

}  // namespace

Status layer_norm_forward(void* out, void* mean, void* rstd, const void* in,
                          const LayerNormArgs& args, Stream stream) {
  if (args.rows == 0) return {};
  if (args.size > kMaxRow) return too_long();
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    return layer_norm_dtype(static_cast<T*>(out), static_cast<C*>(mean), static_cast<C*>(rstd),
                            static_cast<const T*>(in), args, stream);
  });
}

}  // namespace taper::kernels::cuda
