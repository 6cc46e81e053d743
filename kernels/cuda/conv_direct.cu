#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/conv.h"
#include "taper/kernels/cuda/conv_shape.h"
#include "taper/kernels/cuda/device/reduce.cuh"
#include "taper/kernels/cuda/dtypes.h"

// Convolution by its definition, where a product in tiles has next to no rows: groups of a few
// channels, depthwise above all. Memory decides there, not arithmetic.

namespace taper::kernels::cuda {

namespace {

constexpr int kThreads = 256;

/// A thread computes one output pixel; neighbours share their windows through the cache.
template <class T>
__global__ void __launch_bounds__(kThreads)
    conv_forward_per_output(T* out, const T* in, const T* weight, const T* bias, bool relu,
                            ConvShape s, int count, Divider by_channels) {
  using C = compute_t<T>;
  const int step = static_cast<int>(gridDim.x) * kThreads;
  for (int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x); i < count;
       i += step) {
    const Quotient plane = divide(i, s.by_positions);
    const Quotient place = divide(plane.rest, s.by_out_w);
    const Quotient sample = divide(plane.quotient, by_channels);  // rest: the output channel
    const int group = sample.rest / s.out_channels;
    const int y0 = place.quotient * s.stride_h - s.pad_h, x0 = place.rest * s.stride_w - s.pad_w;
    const T* from =
        in + (int64_t{sample.quotient} * s.groups + group) * s.channels * int64_t{s.in_plane};
    const T* w = weight + int64_t{sample.rest} * s.channels * s.taps;
    C sum = 0;
    for (int c = 0; c < s.channels; ++c, from += s.in_plane) {
      for (int ky = 0, y = y0; ky < s.taps / s.kernel_w; ++ky, y += s.dilation_h) {
        for (int kx = 0, x = x0; kx < s.kernel_w; ++kx, x += s.dilation_w, ++w) {
          if (is_inside(y, s.in_h) && is_inside(x, s.in_w)) {
            sum += widen(from[y * s.in_w + x]) * widen(*w);
          }
        }
      }
    }
    if (bias) sum += widen(bias[sample.rest]);
    out[i] = narrow<T>(relu && sum < C(0) ? C(0) : sum);
  }
}

/// A thread computes one input pixel's gradient from the windows that saw it.
template <class T>
__global__ void __launch_bounds__(kThreads)
    conv_data_per_input(T* grad_in, const T* grad_out, const T* weight, ConvShape s, int count,
                        Divider by_channels) {
  using C = compute_t<T>;
  const int step = static_cast<int>(gridDim.x) * kThreads;
  for (int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x); i < count;
       i += step) {
    const Quotient plane = divide(i, s.by_in_plane);
    const Quotient place = divide(plane.rest, s.by_in_w);
    const Quotient sample = divide(plane.quotient, by_channels);  // rest: the input channel
    const int group = sample.rest / s.channels, channel = sample.rest - group * s.channels;
    const int first = group * s.out_channels;
    const T* from = grad_out + (int64_t{sample.quotient} * s.groups * s.out_channels + first) *
                                   int64_t{s.positions};
    const T* w = weight + (int64_t{first} * s.channels + channel) * s.taps;
    C sum = 0;
    for (int o = 0; o < s.out_channels; ++o, from += s.positions, w += s.channels * s.taps) {
      int tap = 0;
      for (int y = place.quotient + s.pad_h; tap < s.taps; y -= s.dilation_h) {
        int x = place.rest + s.pad_w;
        for (int kx = 0; kx < s.kernel_w; ++kx, ++tap, x -= s.dilation_w) {
          if (y < 0 || x < 0) continue;
          const Quotient row = divide(y, s.by_stride_h), col = divide(x, s.by_stride_w);
          if (row.rest == 0 && col.rest == 0 && row.quotient < s.out_h && col.quotient < s.out_w) {
            sum += widen(from[row.quotient * s.out_w + col.quotient]) * widen(w[tap]);
          }
        }
      }
    }
    grad_in[i] = narrow<T>(sum);
  }
}

/// A block computes one weight's gradient: its threads take positions in turn, then add up in a
/// tree.
template <class T>
__global__ void __launch_bounds__(kThreads)
    conv_weight_per_tap(T* grad_weight, const T* grad_out, const T* in, ConvShape s, int count) {
  using C = compute_t<T>;
  const int weight = static_cast<int>(blockIdx.x);
  const Quotient row = divide(weight, s.by_taps);  // rest: the tap
  const Quotient tap = divide(row.rest, s.by_kernel_w);
  const int out_channel = row.quotient / s.channels, group = out_channel / s.out_channels;
  const int channel = group * s.channels + row.quotient - out_channel * s.channels;
  const int y0 = tap.quotient * s.dilation_h - s.pad_h, x0 = tap.rest * s.dilation_w - s.pad_w;
  C sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    const Quotient sample = divide(i, s.by_positions);
    const Quotient place = divide(sample.rest, s.by_out_w);
    const int y = y0 + place.quotient * s.stride_h, x = x0 + place.rest * s.stride_w;
    if (!is_inside(y, s.in_h) || !is_inside(x, s.in_w)) continue;
    const int64_t g = int64_t{sample.quotient} * s.groups * s.out_channels + out_channel;
    const int64_t f = int64_t{sample.quotient} * s.groups * s.channels + channel;
    sum +=
        widen(grad_out[g * s.positions + sample.rest]) * widen(in[f * s.in_plane + y * s.in_w + x]);
  }
  sum = block_reduce<kThreads>(sum, AddFold());
  if (threadIdx.x == 0) grad_weight[weight] = narrow<T>(sum);
}

/// Enough blocks to fill the card; each thread goes on to further pixels.
dim3 blocks_for(int64_t count, const Stream& stream) {
  const int most = 16 * properties_of(stream.device).multi_processor_count;
  return dim3(std::min(ceil_div(count, kThreads), static_cast<unsigned>(most)));
}

template <class T>
Status run(ConvPass pass, const ConvArgs& a, const Stream& stream) {
  const ConvPlan& p = *a.plan;
  const ConvShape s = shape_of(p);
  T* const to = static_cast<T*>(a.to);
  const T* const image = static_cast<const T*>(a.image);
  const T* const grad = static_cast<const T*>(a.grad);
  const T* const weight = static_cast<const T*>(a.weight);
  if (pass == ConvPass::kForward) {
    const int64_t count = p.batch * p.out_channels * s.positions;
    return launch(stream, conv_forward_per_output<T>, blocks_for(count, stream), dim3(kThreads), 0,
                  to, image, weight, static_cast<const T*>(a.bias), a.relu, s, count,
                  Divider(static_cast<uint32_t>(p.out_channels)));
  }
  if (pass == ConvPass::kData) {
    const int64_t count = p.batch * p.in_channels * s.in_plane;
    return launch(stream, conv_data_per_input<T>, blocks_for(count, stream), dim3(kThreads), 0, to,
                  grad, weight, s, count, Divider(static_cast<uint32_t>(p.in_channels)));
  }
  const int64_t weights = p.out_channels * s.channels * s.taps;
  return launch(stream, conv_weight_per_tap<T>, dim3(static_cast<unsigned>(weights)),
                dim3(kThreads), 0, to, grad, image, s, p.batch * s.positions);
}

}  // namespace

Status conv_direct(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  return for_floating(args.plan->dtype,
                      [&](auto type) { return run<decltype(type)>(pass, args, stream); });
}

}  // namespace taper::kernels::cuda
