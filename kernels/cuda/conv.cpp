#include "taper/kernels/cuda/conv.h"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/dnn.h"
#include "taper/kernels/cuda/kernels.h"

// The entries for convolution: cuDNN where it serves, else the way of our own that suits the
// geometry.

namespace taper::kernels::cuda {

namespace {

constexpr int64_t kMost = (int64_t{1} << 31) - 4096;  // columns, depth and offsets in 32 bits

/// What a sample is made of has to be counted in 32 bits.
Status check_size(const ConvPlan& p) {
  constexpr int64_t kMostPixels = 1 << 29;
  const int64_t taps = p.kernel_h * p.kernel_w;
  const int64_t sample =
      std::max(p.in_channels * p.in_h * p.in_w, p.out_channels * p.out_h * p.out_w);
  const int64_t weights = p.out_channels * std::max<int64_t>(1, p.in_channels / p.groups) * taps;
  const int64_t reach =
      std::max({p.in_h + 2 * p.pad_h, p.in_w + 2 * p.pad_w, p.kernel_h * p.dilation_h,
                p.kernel_w * p.dilation_w, p.stride_h, p.stride_w});
  if (sample <= kMost && weights <= kMost && reach <= kMostPixels && p.groups <= 65535) return {};
  return {Code::kInvalidValue, 0, 0,
          "a convolution with a sample or weights of 2^31 elements, or with over 65535 groups"};
}

/// Below this, most rows of a tile would be empty.
constexpr int64_t kFewChannels = 4;

Status run_tiles(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  switch (args.plan->dtype) {
    case kFloat:
      return conv_float(pass, args, stream);
    case kDouble:
      return conv_double(pass, args, stream);
    case kHalf:
      return conv_half(pass, args, stream);
    case kBFloat16:
      return conv_bfloat16(pass, args, stream);
    default:
      return unsupported();
  }
}

Status run(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  const ConvPlan& p = *args.plan;
  const int64_t out_channels = p.out_channels / p.groups, channels = p.in_channels / p.groups;
  const bool few = pass == ConvPass::kForward ? out_channels <= kFewChannels
                   : pass == ConvPass::kData  ? channels <= kFewChannels
                                              : out_channels <= kFewChannels && p.groups > 1;
  return few ? conv_direct(pass, args, stream) : run_tiles(pass, args, stream);
}

template <class T>
T* after(T* data, int64_t elements, ScalarType dtype) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return static_cast<Byte*>(data) + elements * static_cast<int64_t>(element_size(dtype));
}

/// Samples are independent: as many at once as 32 bits count.
Status run_in_batches(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  const ConvPlan& whole = *args.plan;
  const int64_t in_size = whole.in_channels * whole.in_h * whole.in_w;
  const int64_t out_size = whole.out_channels * whole.out_h * whole.out_w;
  const int64_t most = std::max<int64_t>(1, kMost / std::max({int64_t{1}, in_size, out_size}));
  for (int64_t first = 0; first < whole.batch; first += most) {
    ConvPlan plan = whole;
    plan.batch = std::min(most, whole.batch - first);
    ConvArgs part = args;
    part.plan = &plan;
    if (pass == ConvPass::kForward) {
      part.to = after(args.to, first * out_size, plan.dtype);
      part.image = after(args.image, first * in_size, plan.dtype);
    } else {
      part.to = after(args.to, first * in_size, plan.dtype);
      part.grad = after(args.grad, first * out_size, plan.dtype);
    }
    TAPER_TRY(run(pass, part, stream));
  }
  return {};
}

Status clear(void* memory, int64_t elements, ScalarType dtype, const Stream& stream) {
  const size_t bytes = static_cast<size_t>(elements) * element_size(dtype);
  if (bytes) {
    TAPER_CUDA_TRY(cudaMemsetAsync(memory, 0, bytes, static_cast<cudaStream_t>(stream.handle)));
  }
  return {};
}

/// The sum of each channel of grad_out.
Status bias_gradient(void* grad_bias, const void* grad_out, const ConvPlan& p,
                     const Stream& stream) {
  const int64_t positions = p.out_h * p.out_w;
  ReducePlan plan{};
  plan.kept_rank = 1;
  plan.kept_numel = plan.kept_sizes[0] = p.out_channels;
  plan.in_kept_strides[0] = positions;
  plan.out_strides[0] = 1;
  plan.reduced_rank = positions > 1 ? 2 : 1;  // channels alone lie side by side
  plan.reduced_numel = p.batch * positions;
  plan.reduced_sizes[0] = p.batch, plan.reduced_sizes[1] = positions;
  plan.in_reduced_strides[0] = p.out_channels * positions, plan.in_reduced_strides[1] = 1;
  return reduce({ReduceOp::kSum, p.dtype, p.dtype, grad_bias, grad_out, {}, plan}, stream);
}

}  // namespace

Status own_conv_forward(void* out, const void* in, const void* weight, const void* bias, bool relu,
                        const ConvPlan& p, const Stream& stream) {
  if (p.batch == 0 || p.out_channels == 0 || p.out_h * p.out_w == 0) return {};
  TAPER_TRY(check_size(p));
  return run_in_batches(ConvPass::kForward, {out, in, nullptr, weight, bias, relu, &p}, stream);
}

Status own_conv_backward_data(void* grad_in, const void* grad_out, const void* weight,
                              const ConvPlan& p, const Stream& stream) {
  const int64_t size = p.batch * p.in_channels * p.in_h * p.in_w;
  if (size == 0) return {};
  if (p.out_channels == 0 || p.out_h * p.out_w == 0) return clear(grad_in, size, p.dtype, stream);
  TAPER_TRY(check_size(p));
  return run_in_batches(ConvPass::kData, {grad_in, nullptr, grad_out, weight, nullptr, false, &p},
                        stream);
}

Status own_conv_backward_weight(void* grad_weight, void* grad_bias, const void* grad_out,
                                const void* in, const ConvPlan& p, const Stream& stream) {
  const int64_t weights = p.out_channels * (p.in_channels / p.groups) * p.kernel_h * p.kernel_w;
  const int64_t positions = p.batch * p.out_h * p.out_w;
  if (positions == 0) {
    TAPER_TRY(clear(grad_weight, weights, p.dtype, stream));
    return grad_bias ? clear(grad_bias, p.out_channels, p.dtype, stream) : Status{};
  }
  if (p.out_channels == 0) return {};
  TAPER_TRY(check_size(p));
  if (positions > kMost) {
    return {Code::kInvalidValue, 0, 0, "a convolution's weight gradient over 2^31 positions"};
  }
  if (grad_bias) TAPER_TRY(bias_gradient(grad_bias, grad_out, p, stream));
  if (weights == 0) return {};
  return run(ConvPass::kWeight, {grad_weight, in, grad_out, nullptr, nullptr, false, &p}, stream);
}

Status conv_forward(void* out, const void* in, const void* weight, const void* bias, bool relu,
                    const ConvPlan& p, Stream stream) {
  bool served = false;
  if (suits_dnn(p)) {
    TAPER_TRY(dnn_conv(ConvPass::kForward, {out, in, nullptr, weight, nullptr, false, &p}, stream,
                       &served));
  }
  return served ? conv_epilogue(out, bias, relu, p, stream)
                : own_conv_forward(out, in, weight, bias, relu, p, stream);
}

Status conv_backward_data(void* grad_in, const void* grad_out, const void* weight,
                          const ConvPlan& p, Stream stream) {
  bool served = false;
  if (suits_dnn(p)) {
    TAPER_TRY(dnn_conv(ConvPass::kData, {grad_in, nullptr, grad_out, weight, nullptr, false, &p},
                       stream, &served));
  }
  return served ? Status{} : own_conv_backward_data(grad_in, grad_out, weight, p, stream);
}

Status conv_backward_weight(void* grad_weight, void* grad_bias, const void* grad_out,
                            const void* in, const ConvPlan& p, Stream stream) {
  bool served = false;
  if (suits_dnn(p)) {
    TAPER_TRY(dnn_conv(ConvPass::kWeight, {grad_weight, in, grad_out, nullptr, nullptr, false, &p},
                       stream, &served));
  }
  if (!served) return own_conv_backward_weight(grad_weight, grad_bias, grad_out, in, p, stream);
  return grad_bias ? bias_gradient(grad_bias, grad_out, p, stream) : Status{};
}

}  // namespace taper::kernels::cuda
