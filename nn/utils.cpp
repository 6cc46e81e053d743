#include "taper/nn/utils.h"

#include <cmath>
#include <limits>

#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/kernels/backend.h"

namespace taper::nn::utils {

namespace {

// Gradients that one kernel call can take: same device, same dtype, dense.
struct Group {
  Device device;
  ScalarType dtype;
  std::vector<kernels::TensorRef> refs;

  kernels::OptimizerArgs args() const {
    kernels::OptimizerArgs args = {};
    args.dtype = dtype;
    args.tensors = refs.data();
    args.count = static_cast<int64_t>(refs.size());
    return args;
  }
};

// `dense`, which has the values of `gradient`, is kept alive by the caller.
void add_to_group(std::vector<Group>& groups, const Tensor& dense) {
  Group* group = nullptr;
  for (Group& one : groups) {
    if (one.device == dense.device() && one.dtype == dense.scalar_type()) group = &one;
  }
  if (!group) {
    groups.push_back({dense.device(), dense.scalar_type(), {}});
    group = &groups.back();
  }
  kernels::TensorRef ref = {};
  ref.param = dense.data_ptr();
  ref.grad = dense.data_ptr();
  ref.numel = dense.numel();
  group->refs.push_back(ref);
}

std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad().detach());
  }
  return gradients;
}

// The norm of all gradients of a group, one pass over them.
Tensor norm_of(const Group& group, double norm_type) {
  const ScalarType dtype = group.dtype == kDouble ? kDouble : kFloat;
  const Tensor norms =
      empty(static_cast<int64_t>(group.refs.size()), TensorOptions(dtype).device(group.device));
  kernels::check(
      kernels::kernels_for(group.device)
          .multi_norm(norms.data_ptr(), group.args(), norm_type, kernels::stream_for(group.device)),
      "clip_grad_norm_", group.device, group.dtype);
  return norms.numel() == 1 ? norms.squeeze(0) : norms.norm(norm_type);
}

// Multiplies all gradients of a group by a factor that lies on their device.
void scale(const Group& group, const Tensor& factor) {
  const Tensor number = factor.to(group.device).to(group.dtype);
  if (group.device.is_cpu() && number.item<double>() == 1) return;
  kernels::check(
      kernels::kernels_for(group.device)
          .multi_scale(group.args(), 1.0, number.data_ptr(), kernels::stream_for(group.device)),
      "clip_grad_norm_", group.device, group.dtype);
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const NoGradGuard quiet;
  const std::vector<Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return 0.0;

  std::vector<Group> groups;
  std::vector<Tensor> copies;  // of those that are not dense: read here, scaled one by one below
  for (const Tensor& gradient : gradients) {
    copies.push_back(gradient.contiguous());
    add_to_group(groups, copies.back());
  }
  Tensor total;
  if (norm_type == 0) {
    total = scalar_tensor(static_cast<double>(gradients.size()));  // LibTorch's rule
  } else {
    std::vector<Tensor> norms;
    for (const Group& group : groups)
      norms.push_back(norm_of(group, norm_type).to(groups[0].device));
    total = norms.size() == 1 ? norms[0] : stack(norms).norm(norm_type);
  }
  if (error_if_nonfinite) {
    TAPER_CHECK(
        std::isfinite(total.item<double>()), "The total norm of order ", norm_type,
        " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this "
        "error and scale the gradients with the non-finite norm anyway, set "
        "`error_if_nonfinite=false`");
  }
  // max_norm / total, at most 1; NaN stays NaN. Nothing waits for the device before the end.
  const Tensor factor = (total + 1e-6).reciprocal().mul(max_norm).clamp_max(1.0);
  std::vector<Group> dense;
  for (const Tensor& gradient : gradients) {
    if (gradient.is_contiguous()) {
      add_to_group(dense, gradient);
    } else {
      Tensor(gradient).mul_(factor.to(gradient.device()));
    }
  }
  for (const Group& group : dense) scale(group, factor);
  return total.item<double>();
}

double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite);
}

double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{std::move(parameter)}, max_norm, norm_type,
                         error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGradGuard quiet;
  for (const Tensor& gradient : gradients_of(parameters)) {
    Tensor(gradient).clamp_(-clip_value, clip_value);
  }
}
void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value);
}
void clip_grad_value_(Tensor parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{std::move(parameter)}, clip_value);
}

namespace {

void check_devices(const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters) {
    TAPER_CHECK(parameter.device() == parameters[0].device(),
                "Found two parameters on different devices, this is currently not supported.");
  }
}

}  // namespace

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  check_devices(parameters);
  std::vector<Tensor> parts;
  for (const Tensor& parameter : parameters) parts.push_back(parameter.reshape(-1));
  return cat(parts);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  check_devices(parameters);
  int64_t total = 0;
  for (const Tensor& parameter : parameters) total += parameter.numel();
  TAPER_CHECK(vec.dim() == 1 && vec.numel() >= total, "vector_to_parameters: expected a vector of ",
              total, " elements, got shape ", vec.sizes());
  int64_t start = 0;
  for (const Tensor& parameter : parameters) {
    const int64_t count = parameter.numel();
    parameter.set_data(vec.detach().narrow(0, start, count).view(parameter.sizes()).data());
    start += count;
  }
}

}  // namespace taper::nn::utils
