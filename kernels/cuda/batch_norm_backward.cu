#include "taper/kernels/cuda/batch_norm.h"

#include "taper/kernels/cuda/device/channels.cuh"
#include "taper/kernels/cuda/kernels.h"

// With n = (in - mean) * rstd, in training grad_in = weight * rstd * (g - mean(g) - n * mean(g *
// n)); in evaluation the statistics are constants and grad_in = weight * rstd * g. Sums per channel
// as in the forward: slices of each channel, then the slices.

namespace taper::kernels::cuda {

namespace {

/// Of the gradients, and of the gradients times the distances to the mean.
template <class C>
struct GradientSums {
  C plain, product;
};
struct AddSums {
  template <class C>
  __device__ __forceinline__ GradientSums<C> operator()(GradientSums<C> a,
                                                        GradientSums<C> b) const {
    return {a.plain + b.plain, a.product + b.product};
  }
};

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    batch_norm_sums_planes(GradientSums<compute_t<T>>* partials, const T* grad, const T* in,
                           const compute_t<T>* mean, ChannelShape shape, bool packed) {
  using C = compute_t<T>;
  const C centre = mean[blockIdx.x];
  GradientSums<C> mine{0, 0};
  for_slice<T>(shape, packed, [&](int64_t at, auto width) {
    C g[width], x[width];
    load_pack<width>(g, grad + at);
    load_pack<width>(x, in + at);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      mine.plain += g[k];
      mine.product += g[k] * (x[k] - centre);
    }
  });
  mine = block_reduce<kRowBlock>(mine, AddSums());
  if (threadIdx.x == 0) partials[blockIdx.y * shape.channels + blockIdx.x] = mine;
}

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    batch_norm_sums_columns(GradientSums<compute_t<T>>* partials, const T* grad, const T* in,
                            const compute_t<T>* mean, ChannelShape shape) {
  using C = compute_t<T>;
  GradientSums<C> mine{0, 0};
  for_column_slice(shape, [&](int64_t at, int64_t channel) {
    const C g = widen(grad[at]);
    mine.plain += g;
    mine.product += g * (widen(in[at]) - mean[channel]);
  });
  mine = fold_columns(mine, AddSums());
  const int64_t channel = int64_t{blockIdx.x} * kChannelColumns + threadIdx.x;
  if (threadIdx.x < kChannelColumns && channel < shape.channels) {
    partials[blockIdx.y * shape.channels + channel] = mine;
  }
}

/// grad_in = (g - offset - (in - centre) * slope) * scale: the four numbers of each channel.
template <class C>
struct GradientTable {
  C *centre, *offset, *slope, *scale;
};

/// A thread a channel: in double, as there are few numbers.
template <class T>
__global__ void __launch_bounds__(kRowBlock)
    batch_norm_finish_sums(T* grad_weight, T* grad_bias, GradientTable<compute_t<T>> table,
                           const GradientSums<compute_t<T>>* partials, int slices,
                           const compute_t<T>* mean, const compute_t<T>* rstd, const T* weight,
                           int64_t channels, double count, bool training) {
  using C = compute_t<T>;
  const int64_t c = int64_t{blockIdx.x} * kRowBlock + threadIdx.x;
  if (c >= channels) return;
  GradientSums<double> all{0, 0};
  for (int k = 0; k < slices; ++k) {
    const GradientSums<C> part = partials[k * channels + c];
    all = AddSums()(all, GradientSums<double>{part.plain, part.product});
  }
  const double r = rstd[c];
  if (grad_weight) grad_weight[c] = narrow<T>(static_cast<C>(all.product * r));
  if (grad_bias) grad_bias[c] = narrow<T>(static_cast<C>(all.plain));
  table.centre[c] = mean[c];
  table.scale[c] = weight ? rstd[c] * widen(weight[c]) : rstd[c];
  table.offset[c] = training ? static_cast<C>(all.plain / count) : C(0);
  table.slope[c] = training ? static_cast<C>(all.product * r * r / count) : C(0);
}

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    batch_norm_input_gradient(T* grad_in, const T* grad, const T* in,
                              GradientTable<compute_t<T>> table, unsigned count, unsigned channels,
                              unsigned inner, bool packed, bool training) {
  for_channel_elements<T>(
      count, channels, inner, packed, [&](unsigned i, unsigned c, auto width, auto step) {
        compute_t<T> g[width], x[width], centre[width], offset[width], slope[width], scale[width];
        load_pack<width>(g, grad + i);
        load_channels<width, step>(scale, table.scale + c);
        if (training) {
          load_pack<width>(x, in + i);
          load_channels<width, step>(centre, table.centre + c);
          load_channels<width, step>(offset, table.offset + c);
          load_channels<width, step>(slope, table.slope + c);
#pragma unroll
          for (int k = 0; k < width; ++k) g[k] = g[k] - offset[k] - (x[k] - centre[k]) * slope[k];
        }
#pragma unroll
        for (int k = 0; k < width; ++k) g[k] *= scale[k];
        store_pack<width>(grad_in + i, g);
      });
}

template <class T>
Status sums_of_channels(GradientSums<compute_t<T>>* partials, const T* grad, const T* in,
                        const compute_t<T>* mean, const BatchNormArgs& args,
                        const ChannelSlices& slices, const Stream& stream) {
  const ChannelShape shape{args.channels, args.inner, slices.count, slices.slice};
  const unsigned y = static_cast<unsigned>(slices.slices);
  if (args.inner == 1) {
    return launch(stream, batch_norm_sums_columns<T>,
                  dim3(ceil_div(args.channels, kChannelColumns), y), kRowBlock, 0, partials, grad,
                  in, mean, shape);
  }
  const bool packed = args.inner % kPackSize<T> == 0 && aligned_16(grad, in);
  return launch(stream, batch_norm_sums_planes<T>, dim3(ceil_div(args.channels, 1), y), kRowBlock,
                0, partials, grad, in, mean, shape, packed);
}

template <class T>
Status batch_norm_backward_dtype(T* grad_in, T* grad_weight, T* grad_bias, const T* grad,
                                 const T* in, const compute_t<T>* mean, const compute_t<T>* rstd,
                                 bool training, const BatchNormArgs& args, const Stream& stream) {
  using C = compute_t<T>;
  const bool sums = grad_weight || grad_bias || training;
  ChannelSlices slices = ChannelSlices::of(args);
  if (!sums) slices.slices = 0;
  Scratch<GradientSums<C>> partials(stream, slices.slices * args.channels);
  TAPER_TRY(partials.status());
  Scratch<C> numbers(stream, 4 * args.channels);
  TAPER_TRY(numbers.status());
  const auto part = [&](int k) { return numbers.get() + k * args.channels; };
  const GradientTable<C> table{part(0), part(1), part(2), part(3)};
  if (sums) {
    TAPER_TRY(sums_of_channels(partials.get(), grad, in, mean, args, slices, stream));
  }
  TAPER_TRY(launch(stream, batch_norm_finish_sums<T>, ceil_div(args.channels, kRowBlock), kRowBlock,
                   0, grad_weight, grad_bias, table, partials.get(), slices.slices, mean, rstd,
                   static_cast<const T*>(args.weight), args.channels, slices.count, training));
  const int64_t sample = args.channels * args.inner;
  if (!grad_in || sample == 0) return {};
  const bool packed = packs_of_channels(args, kPackSize<T>) && aligned_16(grad_in, grad, in);
  return for_batches(args, [&](int64_t first, int64_t batch) {
    const int64_t at = first * sample, count = batch * sample;
    return launch(stream, batch_norm_input_gradient<T>,
                  elementwise_blocks(packed ? count / kPackSize<T> : count, stream), kRowBlock, 0,
                  grad_in + at, grad + at, in + at, table, count, args.channels, args.inner, packed,
                  training);
  });
}

}  // namespace

Status batch_norm_backward(void* grad_in, void* grad_weight, void* grad_bias, const void* grad_out,
                           const void* in, const void* mean, const void* rstd, bool training,
                           const BatchNormArgs& args, Stream stream) {
  if (args.channels == 0) return {};
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    return batch_norm_backward_dtype(static_cast<T*>(grad_in), static_cast<T*>(grad_weight),
                                     static_cast<T*>(grad_bias), static_cast<const T*>(grad_out),
                                     static_cast<const T*>(in), static_cast<const C*>(mean),
                                     static_cast<const C*>(rstd), training, args, stream);
  });
}

}  // namespace taper::kernels::cuda
