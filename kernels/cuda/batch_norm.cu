#include "taper/kernels/cuda/batch_norm.h"

#include "taper/kernels/cuda/device/channels.cuh"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/functors/math.h"

// Batch normalisation of [batch, channels, inner]. In training: moments of slices of each channel
// (planes when inner > 1, else columns), the slices merged by one thread a channel, which also
// moves the running buffers; then everything elementwise.

namespace taper::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    batch_norm_moments_planes(Moments<compute_t<T>>* partials, const T* in, ChannelShape shape,
                              bool packed) {
  using C = compute_t<T>;
  Moments<C> mine{0, 0, 0};
  for_slice<T>(shape, packed, [&](int64_t at, auto width) {
    C x[width];
    load_pack<width>(x, in + at);
    mine = MergeMoments()(mine, moments_of(x));
  });
  mine = block_reduce<kRowBlock>(mine, MergeMoments());
  if (threadIdx.x == 0) partials[blockIdx.y * shape.channels + blockIdx.x] = mine;
}

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    batch_norm_moments_columns(Moments<compute_t<T>>* partials, const T* in, ChannelShape shape) {
  using C = compute_t<T>;
  Moments<C> mine{0, 0, 0};
  for_column_slice(shape, [&](int64_t at, int64_t) {
    mine = MergeMoments()(mine, Moments<C>{widen(in[at]), 0, 1});
  });
  mine = fold_columns(mine, MergeMoments());
  const int64_t channel = int64_t{blockIdx.x} * kChannelColumns + threadIdx.x;
  if (threadIdx.x < kChannelColumns && channel < shape.channels) {
    partials[blockIdx.y * shape.channels + channel] = mine;
  }
}

/// out = (in - centre) * scale + shift: the three numbers of each channel.
template <class C>
struct ChannelTable {
  C *centre, *scale, *shift;
};

template <class T>
struct BatchNormChannels {
  using C = compute_t<T>;
  int64_t channels;
  C *mean, *rstd, *running_mean, *running_var;
  const T *weight, *bias;
  double eps, momentum;
  ChannelTable<C> table;

  __device__ __forceinline__ void set(int64_t c, C centre, C scale) const {
    mean[c] = centre;
    rstd[c] = scale;
    table.centre[c] = centre;
    table.scale[c] = weight ? scale * widen(weight[c]) : scale;
    table.shift[c] = bias ? widen(bias[c]) : C(0);
  }
};

/// A thread a channel: in double, as there are few numbers.
template <class T>
__global__ void __launch_bounds__(kRowBlock)
    batch_norm_finish_training(BatchNormChannels<T> it, const Moments<compute_t<T>>* partials,
                               int slices, double count) {
  using C = compute_t<T>;
  const int64_t c = int64_t{blockIdx.x} * kRowBlock + threadIdx.x;
  if (c >= it.channels) return;
  Moments<double> all{0, 0, 0};
  for (int k = 0; k < slices; ++k) {
    const Moments<C> part = partials[k * it.channels + c];
    all = MergeMoments()(all, Moments<double>{part.mean, part.m2, part.count});
  }
  it.set(c, static_cast<C>(all.mean), static_cast<C>(1 / functors::sqrt(all.m2 / count + it.eps)));
  if (it.running_mean) {
    it.running_mean[c] =
        static_cast<C>((1 - it.momentum) * it.running_mean[c] + it.momentum * all.mean);
  }
  if (it.running_var) {
    const double unbiased = all.m2 / (count - 1);
    it.running_var[c] =
        static_cast<C>((1 - it.momentum) * it.running_var[c] + it.momentum * unbiased);
  }
}

template <class T>
__global__ void __launch_bounds__(kRowBlock) batch_norm_finish_evaluation(BatchNormChannels<T> it) {
  using C = compute_t<T>;
  const int64_t c = int64_t{blockIdx.x} * kRowBlock + threadIdx.x;
  if (c >= it.channels) return;
  const double variance = it.running_var[c];
  it.set(c, it.running_mean[c], static_cast<C>(1 / functors::sqrt(variance + it.eps)));
}

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    batch_norm_normalise(T* out, const T* in, ChannelTable<compute_t<T>> table, unsigned count,
                         unsigned channels, unsigned inner, bool packed) {
  for_channel_elements<T>(count, channels, inner, packed,
                          [&](unsigned i, unsigned c, auto width, auto step) {
                            compute_t<T> x[width], centre[width], scale[width], shift[width];
                            load_pack<width>(x, in + i);
                            load_channels<width, step>(centre, table.centre + c);
                            load_channels<width, step>(scale, table.scale + c);
                            load_channels<width, step>(shift, table.shift + c);
#pragma unroll
                            for (int k = 0; k < width; ++k)
                              x[k] = (x[k] - centre[k]) * scale[k] + shift[k];
                            store_pack<width>(out + i, x);
                          });
}

template <class T>
Status moments_of_channels(Moments<compute_t<T>>* partials, const T* in, const BatchNormArgs& args,
                           const ChannelSlices& slices, const Stream& stream) {
  const ChannelShape shape{args.channels, args.inner, slices.count, slices.slice};
  const unsigned y = static_cast<unsigned>(slices.slices);
  if (args.inner == 1) {
    return launch(stream, batch_norm_moments_columns<T>,
                  dim3(ceil_div(args.channels, kChannelColumns), y), kRowBlock, 0, partials, in,
                  shape);
  }
  const bool packed = args.inner % kPackSize<T> == 0 && aligned_16(in);
  return launch(stream, batch_norm_moments_planes<T>, dim3(ceil_div(args.channels, 1), y),
                kRowBlock, 0, partials, in, shape, packed);
}

template <class T>
Status batch_norm_dtype(T* out, BatchNormChannels<T> channels, bool training, const T* in,
                        const BatchNormArgs& args, const Stream& stream) {
  using C = compute_t<T>;
  Scratch<C> table(stream, 3 * args.channels);
  TAPER_TRY(table.status());
  channels.table = {table.get(), table.get() + args.channels, table.get() + 2 * args.channels};
  if (training) {
    const ChannelSlices slices = ChannelSlices::of(args);
    Scratch<Moments<C>> partials(stream, slices.slices * args.channels);
    TAPER_TRY(partials.status());
    TAPER_TRY(moments_of_channels(partials.get(), in, args, slices, stream));
    TAPER_TRY(launch(stream, batch_norm_finish_training<T>, ceil_div(args.channels, kRowBlock),
                     kRowBlock, 0, channels, partials.get(), slices.slices, slices.count));
  } else {
    TAPER_TRY(launch(stream, batch_norm_finish_evaluation<T>, ceil_div(args.channels, kRowBlock),
                     kRowBlock, 0, channels));
  }
  const int64_t sample = args.channels * args.inner;
  if (sample == 0) return {};
  const bool packed = packs_of_channels(args, kPackSize<T>) && aligned_16(out, in);
  return for_batches(args, [&](int64_t first, int64_t batch) {
    const int64_t count = batch * sample;
    return launch(stream, batch_norm_normalise<T>,
                  elementwise_blocks(packed ? count / kPackSize<T> : count, stream), kRowBlock, 0,
                  out + first * sample, in + first * sample, channels.table, count, args.channels,
                  args.inner, packed);
  });
}

}  // namespace

Status batch_norm_forward(void* out, void* mean, void* rstd, void* running_mean, void* running_var,
                          double momentum, bool training, const void* in, const BatchNormArgs& args,
                          Stream stream) {
  if (args.channels == 0) return {};
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    const BatchNormChannels<T> channels{args.channels,
                                        static_cast<C*>(mean),
                                        static_cast<C*>(rstd),
                                        static_cast<C*>(running_mean),
                                        static_cast<C*>(running_var),
                                        static_cast<const T*>(args.weight),
                                        static_cast<const T*>(args.bias),
                                        args.eps,
                                        momentum,
                                        {}};
    return batch_norm_dtype(static_cast<T*>(out), channels, training, static_cast<const T*>(in),
                            args, stream);
  });
}

}  // namespace taper::kernels::cuda
