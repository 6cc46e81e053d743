#include "taper/nn/modules/normalization.h"

#include <ostream>

#include "taper/core/factories.h"
#include "taper/nn/functional.h"
#include "taper/nn/init.h"

namespace taper::nn {

namespace F = functional;

// ---- Channels with running statistics.

template <size_t D, class Derived, class Options>
NormImplBase<D, Derived, Options>::NormImplBase(const Options& options) : options(options) {
  NormImplBase::reset();
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset() {
  const int64_t channels = options.num_features();
  const bool affine = options.affine(), tracks = options.track_running_stats();
  weight = this->register_parameter("weight", affine ? empty(channels) : Tensor());
  bias = this->register_parameter("bias", affine ? empty(channels) : Tensor());
  running_mean = this->register_buffer("running_mean", tracks ? zeros(channels) : Tensor());
  running_var = this->register_buffer("running_var", tracks ? ones(channels) : Tensor());
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", tracks ? zeros({}, kLong) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <size_t D, class Derived>
Tensor BatchNormImplBase<D, Derived>::forward(const Tensor& input) {
  if constexpr (D == 1) {
    TAPER_CHECK(input.dim() == 2 || input.dim() == 3, "expected 2D or 3D input (got ", input.dim(),
                "D input)");
  } else {
    TAPER_CHECK(input.dim() == D + 2, "expected ", D + 2, "D input (got ", input.dim(), "D input)");
  }
  const bool tracks = this->options.track_running_stats();
  double momentum = this->options.momentum().value_or(0.0);
  if (this->is_training() && tracks) {
    this->num_batches_tracked.add_(1);
    // Without a momentum every batch has the same weight: the running values are plain averages.
    if (!this->options.momentum())
      momentum = 1.0 / this->num_batches_tracked.template item<double>();
  }
  return F::batch_norm(input, this->running_mean, this->running_var,
                       F::BatchNormFuncOptions()
                           .weight(this->weight)
                           .bias(this->bias)
                           .training(this->is_training() || !tracks)
                           .momentum(momentum)
                           .eps(this->options.eps()));
}

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::BatchNorm" << D << "d(" << this->options.num_features()
         << ", eps=" << this->options.eps() << ", momentum=";
  if (this->options.momentum()) {
    stream << *this->options.momentum();
  } else {
    stream << "None";
  }
  stream << ", affine=" << this->options.affine()
         << ", track_running_stats=" << this->options.track_running_stats() << ")";
}

template <size_t D, class Derived>
Tensor InstanceNormImpl<D, Derived>::forward(const Tensor& input) {
  TAPER_CHECK(input.dim() == D + 1 || input.dim() == D + 2, "expected ", D + 1, "D or ", D + 2,
              "D input (got ", input.dim(), "D input)");
  const bool alone = input.dim() == D + 1;
  const Tensor out = F::instance_norm(
      alone ? input.unsqueeze(0) : input,
      F::InstanceNormFuncOptions()
          .running_mean(this->running_mean)
          .running_var(this->running_var)
          .weight(this->weight)
          .bias(this->bias)
          .use_input_stats(this->is_training() || !this->options.track_running_stats())
          .momentum(this->options.momentum())
          .eps(this->options.eps()));
  return alone ? out.squeeze(0) : out;
}

template <size_t D, class Derived>
void InstanceNormImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::InstanceNorm" << D << "d(" << this->options.num_features()
         << ", eps=" << this->options.eps() << ", momentum=" << this->options.momentum()
         << ", affine=" << this->options.affine()
         << ", track_running_stats=" << this->options.track_running_stats() << ")";
}

template class NormImplBase<1, BatchNorm1dImpl, BatchNormOptions>;
template class NormImplBase<2, BatchNorm2dImpl, BatchNormOptions>;
template class NormImplBase<1, InstanceNorm1dImpl, InstanceNormOptions>;
template class NormImplBase<2, InstanceNorm2dImpl, InstanceNormOptions>;
template class BatchNormImplBase<1, BatchNorm1dImpl>;
template class BatchNormImplBase<2, BatchNorm2dImpl>;
template class InstanceNormImpl<1, InstanceNorm1dImpl>;
template class InstanceNormImpl<2, InstanceNorm2dImpl>;

// ---- Without running statistics.

LayerNormImpl::LayerNormImpl(std::vector<int64_t> normalized_shape)
    : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
LayerNormImpl::LayerNormImpl(const LayerNormOptions& options) : options(options) { reset(); }
void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight =
      register_parameter("weight", affine ? taper::empty(options.normalized_shape()) : Tensor());
  bias = register_parameter("bias", affine ? taper::empty(options.normalized_shape()) : Tensor());
  reset_parameters();
}
void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LayerNorm(" << IntArrayRef(options.normalized_shape())
         << ", eps=" << options.eps() << ", elementwise_affine=" << options.elementwise_affine()
         << ")";
}
Tensor LayerNormImpl::forward(const Tensor& input) {
  return F::layer_norm(input, F::LayerNormFuncOptions(options.normalized_shape())
                                  .weight(weight)
                                  .bias(bias)
                                  .eps(options.eps()));
}

GroupNormImpl::GroupNormImpl(int64_t num_groups, int64_t num_channels)
    : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
GroupNormImpl::GroupNormImpl(const GroupNormOptions& options) : options(options) { reset(); }
void GroupNormImpl::reset() {
  TAPER_CHECK(options.num_groups() > 0 && options.num_channels() % options.num_groups() == 0,
              "num_channels must be divisible by num_groups, got ", options.num_channels(), " and ",
              options.num_groups());
  weight =
      register_parameter("weight", options.affine() ? empty(options.num_channels()) : Tensor());
  bias = register_parameter("bias", options.affine() ? empty(options.num_channels()) : Tensor());
  reset_parameters();
}
void GroupNormImpl::reset_parameters() {
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::GroupNorm(" << options.num_groups() << ", "
         << options.num_channels() << ", eps=" << options.eps() << ", affine=" << options.affine()
         << ")";
}
Tensor GroupNormImpl::forward(const Tensor& input) {
  return F::group_norm(
      input,
      F::GroupNormFuncOptions(options.num_groups()).weight(weight).bias(bias).eps(options.eps()));
}

}  // namespace taper::nn
