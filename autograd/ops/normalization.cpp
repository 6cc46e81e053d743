// Layer, batch, group and instance normalisation.

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

// Statistics are kept in float for the half types.
ScalarType statistics_dtype(ScalarType dtype) {
  return is_reduced_floating_point(dtype) ? kFloat : dtype;
}

void* data_or_null(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

/// An operand that may be missing; where it is there, on the input's device.
Tensor optional_beside(const char* op, const Tensor& input, const std::optional<Tensor>& tensor) {
  if (!tensor || !tensor->defined()) return Tensor();
  check_same_device(op, input, *tensor);
  return *tensor;
}

// A parameter as the kernels take it: dense, in the input's dtype.
Tensor as_parameter(const Tensor& parameter, ScalarType dtype) {
  return parameter.defined() ? cast(parameter.detach(), dtype).contiguous() : Tensor();
}

// x_hat = (x - mean) * rstd over `dims`; gradient of the normalisation, in public ops (see the
// kernels for the fused form): rstd * (h - mean(h) - x_hat * mean(h * x_hat)) with h = g * weight.
Tensor normalized_gradient(const Tensor& h, const Tensor& x_hat, const Tensor& rstd,
                           IntArrayRef dims) {
  return rstd * (h - h.mean(dims, true) - x_hat * (h * x_hat).mean(dims, true));
}

// What the device's kernel for the backward takes and gives, where nobody differentiates the
// gradients again. The node saved the input first, then the weight.
struct KernelGradients {
  KernelGradients(Backward& back, IntArrayRef parameter_sizes, ScalarType dtype)
      : grad(back.grad_output().contiguous()),
        x(back.saved(0).contiguous()),
        weight(as_parameter(back.saved(1), dtype)) {
    for (int i = 0; i < 3; ++i) {
      if (!back.wants(i)) continue;
      made[i] = new_result(i == 0 ? x.sizes() : parameter_sizes, dtype, x.device());
    }
  }
  void* out(int i) const { return data_or_null(made[i]); }
  void give(Backward& back) const {
    for (int i = 0; i < 3; ++i) back.grad(i) = made[i];
  }

  Tensor grad, x, weight;
  Tensor made[3];  // of input, weight and bias; undefined where not wanted
};

// "3, 4"
std::string without_brackets(IntArrayRef sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text;
}

}  // namespace

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                  const std::optional<Tensor>& weight_opt, const std::optional<Tensor>& bias_opt,
                  double eps, bool) {
  constexpr const char* kName = "layer_norm";
  check_defined(kName, input, "input");
  check_floating(kName, input);
  const Tensor weight = optional_beside(kName, input, weight_opt),
               bias = optional_beside(kName, input, bias_opt);
  const int64_t depth = static_cast<int64_t>(normalized_shape.size());
  TAPER_CHECK(depth >= 1,
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
              "one element, but got normalized_shape = ",
              normalized_shape);
  TAPER_CHECK(
      input.dim() >= depth && input.sizes().slice(input.dim() - depth).equals(normalized_shape),
      "Given normalized_shape=", normalized_shape, ", expected input with shape [*, ",
      without_brackets(normalized_shape), "], but got input of size ", input.sizes());
  for (const Tensor* parameter : {&weight, &bias}) {
    TAPER_CHECK(!parameter->defined() || parameter->sizes().equals(normalized_shape), "Expected ",
                parameter == &weight ? "weight" : "bias",
                " to be of same shape as normalized_shape, but got ",
                parameter->defined() ? parameter->sizes() : IntArrayRef(),
                " and normalized_shape = ", normalized_shape);
  }
  const ScalarType dtype = input.scalar_type();
  kernels::LayerNormArgs args;
  args.dtype = dtype;
  args.size = 1;
  for (const int64_t size : normalized_shape) args.size *= size;
  args.rows = args.size == 0 ? 0 : input.numel() / args.size;
  args.eps = eps;
  const Tensor x = input.detach().contiguous();
  const Tensor w = as_parameter(weight, dtype), b = as_parameter(bias, dtype);
  args.weight = data_or_null(w);
  args.bias = data_or_null(b);
  const Tensor out = new_result_like(x);
  const Tensor mean = new_result(args.rows, statistics_dtype(dtype), x.device());
  const Tensor rstd = new_result_like(mean);
  check(kernels_of(x).layer_norm_forward(out.data_ptr(), mean.data_ptr(), rstd.data_ptr(),
                                         x.data_ptr(), args, stream_of(x)),
        kName);
  if (recording(input, weight, bias)) {
    record(out, "NativeLayerNormBackward0", inputs(input, weight, bias),
           saving(input, weight, mean, rstd),
           [args, shape = Dims(normalized_shape)](Backward& back) mutable {
             const Tensor& g = back.grad_output();
             const Tensor input = back.saved(0), weight = back.saved(1);
             const Tensor mean = back.saved(2), rstd = back.saved(3);
             if (!autograd::grad_enabled()) {
               const KernelGradients k(back, shape, args.dtype);
               kernels::LayerNormArgs plan = args;
               plan.weight = data_or_null(k.weight);
               check(kernels_of(k.x).layer_norm_backward(
                         k.out(0), k.out(1), k.out(2), k.grad.data_ptr(), k.x.data_ptr(),
                         mean.data_ptr(), rstd.data_ptr(), plan, stream_of(k.x)),
                     "layer_norm");
               return k.give(back);
             }
             // Composed, from the input itself, so that the statistics are differentiated too.
             std::vector<int64_t> dims;
             for (int d = 1; d <= shape.size(); ++d) dims.push_back(-d);
             const Tensor centred = input - input.mean(dims, true);
             const Tensor scale = ((centred * centred).mean(dims, true) + args.eps).rsqrt();
             const Tensor x_hat = centred * scale;
             if (back.wants(0)) {
               back.grad(0) =
                   normalized_gradient(weight.defined() ? g * weight : g, x_hat, scale, dims);
             }
             if (back.wants(1)) back.grad(1) = g * x_hat;
             if (back.wants(2)) back.grad(2) = g;
           });
  }
  return out;
}

Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight_opt,
                  const std::optional<Tensor>& bias_opt,
                  const std::optional<Tensor>& running_mean_opt,
                  const std::optional<Tensor>& running_var_opt, bool training, double momentum,
                  double eps, bool) {
  constexpr const char* kName = "batch_norm";
  check_defined(kName, input, "input");
  check_floating(kName, input);
  TAPER_CHECK(input.dim() >= 2,
              "batch_norm: expected an input of at least 2 dimensions, but got shape ",
              input.sizes());
  const Tensor weight = optional_beside(kName, input, weight_opt),
               bias = optional_beside(kName, input, bias_opt);
  const Tensor running_mean = optional_beside(kName, input, running_mean_opt),
               running_var = optional_beside(kName, input, running_var_opt);
  const ScalarType dtype = input.scalar_type(), statistics = statistics_dtype(dtype);
  kernels::BatchNormArgs args;
  args.dtype = dtype;
  args.batch = input.size(0);
  args.channels = input.size(1);
  args.inner = 1;
  for (int64_t d = 2; d < input.dim(); ++d) args.inner *= input.size(d);
  args.eps = eps;
  for (const auto& [tensor, name] : {std::pair<const Tensor*, const char*>{&weight, "weight"},
                                     {&bias, "bias"},
                                     {&running_mean, "running_mean"},
                                     {&running_var, "running_var"}}) {
    TAPER_CHECK(!tensor->defined() || tensor->numel() == args.channels, name, " should contain ",
                args.channels, " elements not ", tensor->defined() ? tensor->numel() : 0,
                " (batch_norm)");
  }
  TAPER_CHECK(training || (running_mean.defined() && running_var.defined()),
              "batch_norm: running_mean and running_var must be defined in evaluation mode");
  if (training) {
    TAPER_CHECK_VALUE(args.batch * args.inner != 1,
                      "Expected more than 1 value per channel when training, got input size ",
                      input.sizes());
  }
  // The kernel keeps running statistics in its own type; others go through a copy.
  const auto running = [&](const Tensor& tensor) {
    return tensor.defined() ? cast(tensor.detach(), statistics).contiguous() : Tensor();
  };
  const Tensor x = input.detach().contiguous();
  const Tensor w = as_parameter(weight, dtype), b = as_parameter(bias, dtype);
  const Tensor kernel_mean = running(running_mean), kernel_var = running(running_var);
  args.weight = data_or_null(w);
  args.bias = data_or_null(b);
  const Tensor out = new_result_like(x);
  const Tensor mean = new_result(args.channels, statistics, x.device());
  const Tensor rstd = new_result_like(mean);
  // Of no values there are no statistics: the running ones stay as they are.
  if (x.numel() == 0) {
    fill_values(mean, 0);
    fill_values(rstd, 0);
  } else {
    check(kernels_of(x).batch_norm_forward(out.data_ptr(), mean.data_ptr(), rstd.data_ptr(),
                                           data_or_null(kernel_mean), data_or_null(kernel_var),
                                           momentum, training, x.data_ptr(), args, stream_of(x)),
          kName);
  }
  if (training) {
    const NoGradGuard quiet;
    for (const auto& [own, kernel] :
         {std::pair{running_mean, kernel_mean}, {running_var, kernel_var}}) {
      if (!own.defined()) continue;
      if (own.data_ptr() == kernel.data_ptr()) {
        ++own.impl().version();
      } else {
        own.copy_(kernel);
      }
    }
  }
  if (recording(input, weight, bias)) {
    record(out, "NativeBatchNormBackward0", inputs(input, weight, bias),
           saving(input, weight, mean, rstd), [args, training](Backward& back) {
             const Tensor& g = back.grad_output();
             const Tensor input = back.saved(0), weight = back.saved(1);
             const Tensor mean = back.saved(2), rstd = back.saved(3);
             if (!autograd::grad_enabled()) {
               const KernelGradients k(back, args.channels, args.dtype);
               kernels::BatchNormArgs plan = args;
               plan.weight = data_or_null(k.weight);
               check(kernels_of(k.x).batch_norm_backward(
                         k.out(0), k.out(1), k.out(2), k.grad.data_ptr(), k.x.data_ptr(),
                         mean.data_ptr(), rstd.data_ptr(), training, plan, stream_of(k.x)),
                     "batch_norm");
               return k.give(back);
             }
             std::vector<int64_t> dims{0}, per_channel{-1};
             for (int64_t d = 2; d < input.dim(); ++d) {
               dims.push_back(d);
               per_channel.push_back(1);
             }
             const auto shaped = [&](const Tensor& t) { return t.view(per_channel); };
             const Tensor h = weight.defined() ? g * shaped(weight) : g;
             Tensor x_hat;
             if (training) {
               const Tensor centred = input - input.mean(dims, true);
               const Tensor scale = ((centred * centred).mean(dims, true) + args.eps).rsqrt();
               x_hat = centred * scale;
               if (back.wants(0)) back.grad(0) = normalized_gradient(h, x_hat, scale, dims);
             } else {
               x_hat = (input - shaped(mean)) * shaped(rstd);
               if (back.wants(0)) back.grad(0) = h * shaped(rstd);
             }
             if (back.wants(1)) back.grad(1) = (g * x_hat).sum(dims);
             if (back.wants(2)) back.grad(2) = g.sum(dims);
           });
  }
  return out;
}

// Groups of channels are normalised as layers; weight and bias are per channel.
Tensor group_norm(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight_opt,
                  const std::optional<Tensor>& bias_opt, double eps, bool) {
  check_defined("group_norm", input, "input");
  TAPER_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
              input.dim());
  const int64_t channels = input.size(1);
  TAPER_CHECK(
      num_groups > 0 && channels % num_groups == 0,
      "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
      input.sizes(), " and num_groups=", num_groups);
  const Tensor weight = optional_beside("group_norm", input, weight_opt),
               bias = optional_beside("group_norm", input, bias_opt);
  for (const Tensor* parameter : {&weight, &bias}) {
    TAPER_CHECK(!parameter->defined() || parameter->numel() == channels, "Expected ",
                parameter == &weight ? "weight" : "bias",
                " to be a vector of size equal to the number of channels in input, but got ",
                parameter->defined() ? parameter->sizes() : IntArrayRef(), " and input of shape ",
                input.sizes());
  }
  const int64_t batch = input.size(0);
  if (input.numel() == 0) return input.clone();
  if (is_reduced_floating_point(input.scalar_type()) && (weight.defined() || bias.defined())) {
    // In float to the end: the scaled and shifted result is rounded once.
    const auto wide = [](const Tensor& t) { return t.defined() ? t.to(kFloat) : t; };
    return taper::group_norm(input.to(kFloat), num_groups, wide(weight), wide(bias), eps)
        .to(input.scalar_type());
  }
  const Tensor groups = input.reshape({batch * num_groups, -1});
  Tensor out = taper::layer_norm(groups, groups.size(1), {}, {}, eps).view(input.sizes());
  Dims per_channel;
  per_channel.push_back(channels);
  for (int64_t d = 2; d < input.dim(); ++d) per_channel.push_back(1);
  if (weight.defined()) out = out * weight.reshape(per_channel);
  if (bias.defined()) out = out + bias.reshape(per_channel);
  return out;
}

// Batch norm in which every (sample, channel) is a channel of its own.
Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
                     const std::optional<Tensor>& running_var, bool use_input_stats,
                     double momentum, double eps, bool) {
  check_defined("instance_norm", input, "input");
  TAPER_CHECK(input.dim() >= 3,
              "instance_norm: expected an input of at least 3 dimensions, but got shape ",
              input.sizes());
  const int64_t batch = input.size(0), channels = input.size(1);
  TAPER_CHECK(use_input_stats || (running_mean && running_mean->defined() && running_var &&
                                  running_var->defined()),
              "Expected running_mean and running_var to be defined when use_input_stats is false");
  const auto repeated = [&](const std::optional<Tensor>& t) {
    return t && t->defined() ? t->repeat({batch}) : Tensor();
  };
  Dims merged(input.sizes());
  merged[0] = 1;
  merged[1] = batch * channels;
  const Tensor mean = repeated(running_mean), var = repeated(running_var);
  const Tensor out = taper::batch_norm(input.contiguous().view(merged), repeated(weight),
                                       repeated(bias), mean, var, use_input_stats, momentum, eps)
                         .view(input.sizes());
  if (use_input_stats && mean.defined()) {
    const NoGradGuard quiet;
    Tensor(*running_mean).copy_(mean.view({batch, channels}).mean(0));
    Tensor(*running_var).copy_(var.view({batch, channels}).mean(0));
  }
  return out;
}

}  // namespace taper::ops
