#include <cmath>

#include "taper/kernels/cpu/reduce_rows.h"
#include "taper/kernels/cpu/var_mean.h"

// Batch normalisation of [batch, channels, inner]: statistics by the walk of reduce_driver.h, the
// rest elementwise, plane by plane (inner > 1) or row by row (inner == 1).

TAPER_CPU_BEGIN

namespace {

constexpr int64_t kGrain = 16 * 1024;  // elements worth a thread

/// Reduces batch and inner for each channel.
ReducePlan channel_plan(const BatchNormArgs& args) {
  ReducePlan plan{};
  plan.kept_numel = args.channels;
  plan.reduced_numel = args.batch * args.inner;
  plan.kept_rank = 1;
  plan.kept_sizes[0] = args.channels;
  plan.out_strides[0] = 1;
  plan.in_kept_strides[0] = args.inner;
  const auto add = [&](int64_t size, int64_t stride) {
    if (size == 1) return;
    plan.reduced_sizes[plan.reduced_rank] = size;
    plan.in_reduced_strides[plan.reduced_rank++] = stride;
  };
  add(args.inner, 1);
  add(args.batch, args.channels * args.inner);
  return plan;
}

void store_moments(void* const* outs, int64_t offset, int64_t stride, const Moments* acc,
                   int64_t count, int64_t, double) {
  for (int64_t i = 0; i < count; ++i) static_cast<Moments*>(outs[0])[offset + i * stride] = acc[i];
}

/// Runs body(at, size, channel) over the tensor: planes of one channel, or rows that hold every
/// channel once (channel -1).
template <class Body>
void for_planes(const BatchNormArgs& args, const Stream& stream, const Body& body) {
  const bool planes = args.inner > 1;
  const int64_t count = planes ? args.batch * args.channels : args.batch;
  const int64_t size = planes ? args.inner : args.channels;
  if (size == 0) return;
  parallel_for(stream, count, std::max<int64_t>(1, kGrain / size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i * size, size, planes ? i % args.channels : -1);
  });
}

/// A number per channel as a packet: one broadcast within a plane, side by side in a row.
template <class T, class Packet>
TAPER_INLINE packet_t<T> per_channel(const compute_t<T>* from, int64_t channel, int64_t i,
                                     const Packet& packet) {
  return channel >= 0 ? packet_t<T>(from[channel]) : packet.load_terms(from + i);
}

template <class T>
Status batch_norm_forward_dtype(T* out, compute_t<T>* mean, compute_t<T>* rstd,
                                compute_t<T>* running_mean, compute_t<T>* running_var,
                                double momentum, bool training, const T* in,
                                const BatchNormArgs& args, const Stream& stream) {
  using C = compute_t<T>;
  using V = packet_t<T>;
  const int64_t channels = args.channels;
  if (training) {
    Scratch<Moments> moments(stream, channels);
    if (channels && !moments.get()) return moments.failure();
    constexpr Reducer<T, Moments> kOp = moments_reducer<T>(store_moments);
    void* const outs[] = {moments.get()};
    if (Status s = run_reduction(kOp, outs, in, channel_plan(args), 0, stream); !s.ok()) return s;
    for (int64_t c = 0; c < channels; ++c) {
      const Moments& m = moments[c];
      mean[c] = static_cast<C>(m.mean);
      rstd[c] = static_cast<C>(1 / std::sqrt(m.m2 / m.count + args.eps));
      const double unbiased = m.m2 / (m.count - 1);
      if (running_mean) {
        running_mean[c] = static_cast<C>((1 - momentum) * running_mean[c] + momentum * m.mean);
      }
      if (running_var) {
        running_var[c] = static_cast<C>((1 - momentum) * running_var[c] + momentum * unbiased);
      }
    }
  } else {
    for (int64_t c = 0; c < channels; ++c) {
      mean[c] = running_mean[c];
      rstd[c] = static_cast<C>(1 / std::sqrt(static_cast<double>(running_var[c]) + args.eps));
    }
  }
  // out = (in - centre) * scale + shift.
  Scratch<C> table(stream, 3 * channels);
  if (channels && !table.get()) return table.failure();
  C *centre = table.get(), *scale = centre + channels, *shift = scale + channels;
  const T* weight = static_cast<const T*>(args.weight);
  const T* bias = static_cast<const T*>(args.bias);
  std::fill_n(centre, 3 * channels, C(0));
  for (int64_t c = 0; c < channels; ++c) {
    centre[c] = mean[c];
    scale[c] = weight ? rstd[c] * static_cast<C>(weight[c]) : rstd[c];
    shift[c] = bias ? static_cast<C>(bias[c]) : C(0);
  }
  for_planes(args, stream, [&](int64_t at, int64_t size, int64_t channel) {
    for_packets<T>(size, [&](int64_t i, auto packet) {
      const V distance = packet.load(in + at + i) - per_channel<T>(centre, channel, i, packet);
      packet.store(out + at + i, fma(distance, per_channel<T>(scale, channel, i, packet),
                                     per_channel<T>(shift, channel, i, packet)));
    });
  });
  return {};
}

/// Adds to sums[c] the gradients of channel c, to sums[channels + c] gradient * (in - mean), in
/// double.
template <class T>
void gradient_sums(double* sums, const T* grad, const T* in, const compute_t<T>* mean,
                   const BatchNormArgs& args, const Stream& stream) {
  using V = packet_t<T>;
  const int64_t channels = args.channels, batch = args.batch, inner = args.inner;
  if (inner > 1) {
    const int64_t work = std::max<int64_t>(1, batch * inner);
    parallel_for(
        stream, channels, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
          for (int64_t c = begin; c < end; ++c) {
            const V centre(mean[c]);
            for (int64_t n = 0; n < batch; ++n) {
              const int64_t at = (n * channels + c) * inner;
              const auto plane = row_sums<T, 2>(inner, [&](int64_t i, auto packet, V* sum) {
                const V g = packet.load(grad + at + i);
                sum[0] += g;
                sum[1] = fma(g, packet.load(in + at + i) - centre, sum[1]);
              });
              sums[c] += plane[0];
              sums[channels + c] += plane[1];
            }
          }
        });
    return;
  }
  // Rows: columns of a strip, 32 rows in float at a time, then added in double.
  constexpr int64_t kStrip = 64;
  const int64_t work = std::max<int64_t>(1, batch * kStrip);
  const int64_t strips = (channels + kStrip - 1) / kStrip;
  parallel_for(
      stream, strips, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
        for (int64_t strip = begin; strip < end; ++strip) {
          const int64_t first = strip * kStrip, columns = std::min(kStrip, channels - first);
          alignas(64) compute_t<T> centre[kStrip] = {}, sum[kStrip], product[kStrip];
          std::copy_n(mean + first, columns, centre);
          for (int64_t start = 0; start < batch; start += 32) {
            for_packets<T>(columns, [&](int64_t i, auto packet) {
              V s(0), p(0);
              for (int64_t n = start; n < std::min(start + 32, batch); ++n) {
                const int64_t at = n * channels + first + i;
                const V g = packet.load(grad + at);
                s += g;
                p = fma(g, packet.load(in + at) - V::load(centre + i), p);
              }
              s.store(sum + i);
              p.store(product + i);
            });
            for (int64_t i = 0; i < columns; ++i) {
              sums[first + i] += sum[i];
              sums[channels + first + i] += product[i];
            }
          }
        }
      });
}

/// With n = (in - mean) * rstd, in training grad_in = weight * rstd * (g - mean(g) - n * mean(g *
/// n)); in evaluation the statistics are constants and grad_in = weight * rstd * g.
template <class T>
Status batch_norm_backward_dtype(T* grad_in, T* grad_weight, T* grad_bias, const T* grad,
                                 const T* in, const compute_t<T>* mean, const compute_t<T>* rstd,
                                 bool training, const BatchNormArgs& args, const Stream& stream) {
  using C = compute_t<T>;
  using V = packet_t<T>;
  const int64_t channels = args.channels;
  Scratch<double> sums(stream, 2 * channels);
  Scratch<C> table(stream, 4 * channels);
  if (channels && !sums.get()) return sums.failure();
  if (channels && !table.get()) return table.failure();
  std::fill_n(sums.get(), 2 * channels, 0.0);
  if (grad_weight || grad_bias || training) {
    gradient_sums(sums.get(), grad, in, mean, args, stream);
  }
  // grad_in = (g - offset - (in - centre) * slope) * scale.
  C *centre = table.get(), *offset = centre + channels, *slope = offset + channels,
    *scale = slope + channels;
  std::fill_n(centre, 4 * channels, C(0));
  const T* weight = static_cast<const T*>(args.weight);
  const double count = static_cast<double>(args.batch * args.inner);
  for (int64_t c = 0; c < channels; ++c) {
    const double sum = sums[c], product = sums[channels + c], r = rstd[c];
    if (grad_weight) grad_weight[c] = T(static_cast<C>(product * r));
    if (grad_bias) grad_bias[c] = T(static_cast<C>(sum));
    centre[c] = mean[c];
    scale[c] = weight ? rstd[c] * static_cast<C>(weight[c]) : rstd[c];
    if (training) {
      offset[c] = static_cast<C>(sum / count);
      slope[c] = static_cast<C>(product * r * r / count);
    }
  }
  if (!grad_in) return {};
  for_planes(args, stream, [&](int64_t at, int64_t size, int64_t channel) {
    if (!training) {
      for_packets<T>(size, [&](int64_t i, auto packet) {
        packet.store(grad_in + at + i,
                     packet.load(grad + at + i) * per_channel<T>(scale, channel, i, packet));
      });
      return;
    }
    for_packets<T>(size, [&](int64_t i, auto packet) {
      const V distance = packet.load(in + at + i) - per_channel<T>(centre, channel, i, packet);
      const V g = packet.load(grad + at + i) - per_channel<T>(offset, channel, i, packet);
      packet.store(grad_in + at + i, (g - distance * per_channel<T>(slope, channel, i, packet)) *
                                         per_channel<T>(scale, channel, i, packet));
    });
  });
  return {};
}

}  // namespace

Status batch_norm_forward(void* out, void* mean, void* rstd, void* running_mean, void* running_var,
                          double momentum, bool training, const void* in, const BatchNormArgs& args,
                          Stream stream) {
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    using C = compute_t<T>;
    return batch_norm_forward_dtype(static_cast<T*>(out), static_cast<C*>(mean),
                                    static_cast<C*>(rstd), static_cast<C*>(running_mean),
                                    static_cast<C*>(running_var), momentum, training,
                                    static_cast<const T*>(in), args, stream);
  });
}

Status batch_norm_backward(void* grad_in, void* grad_weight, void* grad_bias, const void* grad_out,
                           const void* in, const void* mean, const void* rstd, bool training,
                           const BatchNormArgs& args, Stream stream) {
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    using C = compute_t<T>;
    return batch_norm_backward_dtype(static_cast<T*>(grad_in), static_cast<T*>(grad_weight),
                                     static_cast<T*>(grad_bias), static_cast<const T*>(grad_out),
                                     static_cast<const T*>(in), static_cast<const C*>(mean),
                                     static_cast<const C*>(rstd), training, args, stream);
  });
}

TAPER_CPU_END
