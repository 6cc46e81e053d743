// Convolution. Three linear maps close under differentiation: the convolution itself, its gradient
// with respect to the data (which is also the transposed convolution) and that with respect to the
// weights. Each is recorded in terms of the other two, so that any order of derivative works.

#include "taper/autograd/ops/op.h"
#include "taper/core/cuda.h"

namespace taper::ops {

namespace {

using kernels::ConvPlan;

Tensor dense(const Tensor& tensor) { return tensor.detach().contiguous(); }

// The result of a kernel on dense copies, without history: the caller records.
Tensor run_forward(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvPlan& plan) {
  const Tensor input = dense(x), weight = dense(w);
  const int64_t shape[] = {plan.batch, plan.out_channels, plan.out_h, plan.out_w};
  const Tensor out = new_result(shape, plan.dtype, x.device());
  const Tensor row = bias.defined() ? dense(bias) : Tensor();
  check(kernels_of(out).conv_forward(out.data_ptr(), input.data_ptr(), weight.data_ptr(),
                                     row.defined() ? row.data_ptr() : nullptr, false, plan,
                                     stream_of(out)),
        "conv2d");
  return out;
}

Tensor run_data(const Tensor& g, const Tensor& w, const ConvPlan& plan) {
  const Tensor grad = dense(g), weight = dense(w);
  const int64_t shape[] = {plan.batch, plan.in_channels, plan.in_h, plan.in_w};
  const Tensor out = new_result(shape, plan.dtype, g.device());
  check(kernels_of(out).conv_backward_data(out.data_ptr(), grad.data_ptr(), weight.data_ptr(), plan,
                                           stream_of(out)),
        "conv2d");
  return out;
}

Tensor run_weight(const Tensor& g, const Tensor& x, const ConvPlan& plan, Tensor* grad_bias) {
  const Tensor grad = dense(g), input = dense(x);
  const int64_t shape[] = {plan.out_channels, plan.in_channels / plan.groups, plan.kernel_h,
                           plan.kernel_w};
  const Tensor out = new_result(shape, plan.dtype, g.device());
  if (grad_bias) *grad_bias = new_result(plan.out_channels, plan.dtype, g.device());
  check(kernels_of(out).conv_backward_weight(
            out.data_ptr(), grad_bias ? grad_bias->data_ptr() : nullptr, grad.data_ptr(),
            input.data_ptr(), plan, stream_of(out)),
        "conv2d");
  return out;
}

Tensor data_gradient(const Tensor& g, const Tensor& w, const ConvPlan& plan);
Tensor weight_gradient(const Tensor& g, const Tensor& x, const ConvPlan& plan);

// x [batch, in, h, w], w [out, in / groups, kh, kw], bias [out] or undefined.
Tensor convolve(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvPlan& plan) {
  const Tensor out = run_forward(x, w, bias, plan);
  if (recording(x, w, bias)) {
    record(out, "ConvolutionBackward0", inputs(x, w, bias),
           saving(when(w.requires_grad(), x), when(x.requires_grad(), w)), [plan](Backward& b) {
             const Tensor& g = b.grad_output();
             if (b.wants(0)) b.grad(0) = data_gradient(g, b.saved(1), plan);
             if (b.wants(1) && b.wants(2) && !autograd::grad_enabled()) {
               b.grad(1) = run_weight(g, b.saved(0), plan, &b.grad(2));
               return;
             }
             if (b.wants(1)) b.grad(1) = weight_gradient(g, b.saved(0), plan);
             if (b.wants(2)) b.grad(2) = g.sum({0, 2, 3});
           });
  }
  return out;
}

Tensor data_gradient(const Tensor& g, const Tensor& w, const ConvPlan& plan) {
  const Tensor out = run_data(g, w, plan);
  if (recording(g, w)) {
    record(out, "ConvolutionTransposeBackward0", inputs(g, w),
           saving(when(w.requires_grad(), g), when(g.requires_grad(), w)), [plan](Backward& b) {
             const Tensor& gg = b.grad_output();
             if (b.wants(0)) b.grad(0) = convolve(gg, b.saved(1), {}, plan);
             if (b.wants(1)) b.grad(1) = weight_gradient(b.saved(0), gg, plan);
           });
  }
  return out;
}

Tensor weight_gradient(const Tensor& g, const Tensor& x, const ConvPlan& plan) {
  const Tensor out = run_weight(g, x, plan, nullptr);
  if (recording(g, x)) {
    record(out, "ConvolutionWeightBackward0", inputs(g, x),
           saving(when(x.requires_grad(), g), when(g.requires_grad(), x)), [plan](Backward& b) {
             const Tensor& gw = b.grad_output();
             if (b.wants(0)) b.grad(0) = convolve(b.saved(1), gw, {}, plan);
             if (b.wants(1)) b.grad(1) = data_gradient(b.saved(0), gw, plan);
           });
  }
  return out;
}

// Parameters of one spatial dimension or of two, from lists of length 1 or that number.
struct Spatial {
  int64_t h, w;
};
Spatial spatial(const char* op, IntArrayRef values, int rank, const char* name, int64_t filler) {
  TAPER_CHECK(values.size() == 1 || static_cast<int>(values.size()) == rank, op, ": expected ",
              name, " to be a single integer value or a list of ", rank, " values, but got ", name,
              "=", values);
  const int64_t last = values.back();
  return rank == 1 ? Spatial{filler, last} : Spatial{values.front(), last};
}

struct Convolution {
  Tensor input, weight, bias;  // as [batch, channels, h, w]; bias may be undefined
  ConvPlan plan;
  bool batched;
};

// Brings input and weight to two dimensions and fills all of the plan but the output size.
Convolution prepare(const char* op, int rank, const Tensor& input, const Tensor& weight,
                    const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, int64_t groups) {
  check_defined(op, input, "input");
  check_defined(op, weight, "weight");
  check_same_device(op, input, weight);
  TAPER_CHECK(weight.dim() == rank + 2, op, ": expected weight to have ", rank + 2,
              " dimensions, but got weight of size: ", weight.sizes());
  const bool batched = input.dim() == rank + 2;
  TAPER_CHECK(batched || input.dim() == rank + 1, "Expected ", rank + 1, "D (unbatched) or ",
              rank + 2, "D (batched) input to ", op, ", but got input of size: ", input.sizes());
  TAPER_CHECK_TYPE(input.scalar_type() == weight.scalar_type(), "Input type (", input.scalar_type(),
                   ") and weight type (", weight.scalar_type(), ") should be the same (", op, ")");
  check_floating(op, input);
  Convolution out;
  out.batched = batched;
  out.input = batched ? input : input.unsqueeze(0);
  out.weight = weight;
  if (rank == 1) {
    out.input = out.input.unsqueeze(2);
    out.weight = out.weight.unsqueeze(2);
  }
  if (bias && bias->defined()) {
    check_same_device(op, input, *bias);
    TAPER_CHECK_TYPE(bias->scalar_type() == input.scalar_type(), "Input type (",
                     input.scalar_type(), ") and bias type (", bias->scalar_type(),
                     ") should be the same (", op, ")");
    out.bias = *bias;
  }
  const Spatial s = spatial(op, stride, rank, "stride", 1),
                p = spatial(op, padding, rank, "padding", 0),
                d = spatial(op, dilation, rank, "dilation", 1);
  TAPER_CHECK(s.h > 0 && s.w > 0, op, ": non-positive stride is not supported, got ", stride);
  TAPER_CHECK(p.h >= 0 && p.w >= 0, op, ": negative padding is not supported, got ", padding);
  TAPER_CHECK(d.h > 0 && d.w > 0, op, ": dilation should be greater than zero, got ", dilation);
  TAPER_CHECK(groups > 0, op, ": expected groups to be greater than 0, but got groups=", groups);
  ConvPlan& plan = out.plan;
  plan = {};
  plan.dtype = input.scalar_type();
  plan.batch = out.input.size(0);
  plan.kernel_h = out.weight.size(2);
  plan.kernel_w = out.weight.size(3);
  plan.stride_h = s.h, plan.stride_w = s.w;
  plan.pad_h = p.h, plan.pad_w = p.w;
  plan.dilation_h = d.h, plan.dilation_w = d.w;
  plan.groups = groups;
  plan.tf32 = input.is_cuda() && cuda::allow_tf32_cudnn();
  return out;
}

Tensor finish(const Convolution& conv, const Tensor& out, int rank) {
  const Tensor flat = rank == 1 ? out.squeeze(2) : out;
  return conv.batched ? flat : flat.squeeze(0);
}

Tensor conv(const char* op, int rank, const Tensor& input, const Tensor& weight,
            const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
            IntArrayRef dilation, int64_t groups) {
  Convolution c = prepare(op, rank, input, weight, bias, stride, padding, dilation, groups);
  ConvPlan& plan = c.plan;
  plan.in_channels = c.input.size(1);
  plan.in_h = c.input.size(2), plan.in_w = c.input.size(3);
  plan.out_channels = c.weight.size(0);
  TAPER_CHECK(plan.in_channels == c.weight.size(1) * groups, "Given groups=", groups,
              ", weight of size ", weight.sizes(), ", expected input", input.sizes(), " to have ",
              c.weight.size(1) * groups, " channels, but got ", plan.in_channels,
              " channels instead (", op, ")");
  TAPER_CHECK(plan.out_channels % groups == 0, "Given groups=", groups,
              ", expected weight to be divisible by ", groups,
              " at dimension 0, but got weight of size ", weight.sizes(), " instead (", op, ")");
  TAPER_CHECK(!c.bias.defined() || (c.bias.dim() == 1 && c.bias.size(0) == plan.out_channels),
              "Given weight of size ", weight.sizes(), ", expected bias to be 1-dimensional with ",
              plan.out_channels, " elements, but got bias of size ",
              c.bias.defined() ? c.bias.sizes() : IntArrayRef(), " instead (", op, ")");
  const int64_t reach_h = plan.dilation_h * (plan.kernel_h - 1) + 1,
                reach_w = plan.dilation_w * (plan.kernel_w - 1) + 1;
  TAPER_CHECK(plan.in_h + 2 * plan.pad_h >= reach_h && plan.in_w + 2 * plan.pad_w >= reach_w,
              "Calculated padded input size per channel: (", plan.in_h + 2 * plan.pad_h, " x ",
              plan.in_w + 2 * plan.pad_w, "). Kernel size: (", reach_h, " x ", reach_w,
              "). Kernel size can't be greater than actual input size (", op, ")");
  plan.out_h = kernels::window_output_size(plan.in_h, plan.kernel_h, plan.stride_h, plan.pad_h,
                                           plan.dilation_h, false);
  plan.out_w = kernels::window_output_size(plan.in_w, plan.kernel_w, plan.stride_w, plan.pad_w,
                                           plan.dilation_w, false);
  return finish(c, convolve(c.input, c.weight, c.bias, plan), rank);
}

// The transposed convolution is the data gradient of a convolution whose output is `input`.
Tensor conv_transpose(const char* op, int rank, const Tensor& input, const Tensor& weight,
                      const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  Convolution c = prepare(op, rank, input, weight, bias, stride, padding, dilation, groups);
  if (c.bias.defined() && is_reduced_floating_point(input.scalar_type())) {
    // The bias is added in float, so that the result is rounded once.
    return conv_transpose(op, rank, input.to(kFloat), weight.to(kFloat), bias->to(kFloat), stride,
                          padding, output_padding, groups, dilation)
        .to(input.scalar_type());
  }
  ConvPlan& plan = c.plan;
  const Spatial extra = spatial(op, output_padding, rank, "output_padding", 0);
  plan.out_channels = c.input.size(1);
  plan.out_h = c.input.size(2), plan.out_w = c.input.size(3);
  plan.in_channels = c.weight.size(1) * groups;
  TAPER_CHECK(plan.out_channels == c.weight.size(0), "Given transposed=1, weight of size ",
              weight.sizes(), ", expected input", input.sizes(), " to have ", c.weight.size(0),
              " channels, but got ", plan.out_channels, " channels instead (", op, ")");
  TAPER_CHECK(plan.out_channels % groups == 0, op, ": input channels (", plan.out_channels,
              ") must be divisible by groups (", groups, ")");
  TAPER_CHECK(
      (extra.h < plan.stride_h || extra.h < plan.dilation_h) &&
          (extra.w < plan.stride_w || extra.w < plan.dilation_w),
      "output padding must be smaller than either stride or dilation, but got output_padding=",
      output_padding, " (", op, ")");
  plan.in_h = (plan.out_h - 1) * plan.stride_h - 2 * plan.pad_h +
              plan.dilation_h * (plan.kernel_h - 1) + extra.h + 1;
  plan.in_w = (plan.out_w - 1) * plan.stride_w - 2 * plan.pad_w +
              plan.dilation_w * (plan.kernel_w - 1) + extra.w + 1;
  TAPER_CHECK(plan.in_h > 0 && plan.in_w > 0, op, ": the output would be of size (", plan.in_h,
              " x ", plan.in_w, "), which is too small");
  Tensor out = data_gradient(c.input, c.weight, plan);
  if (c.bias.defined()) out = out + c.bias.view({-1, 1, 1});
  return finish(c, out, rank);
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups);
}
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  return conv_transpose("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding,
                        groups, dilation);
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  return conv_transpose("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding,
                        groups, dilation);
}

}  // namespace taper::ops
