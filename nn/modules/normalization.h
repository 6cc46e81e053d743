#pragma once

#include "taper/nn/options/layer.h"

namespace taper::nn {

/// What batch and instance norm share: weight and bias per channel, running mean and variance as
/// buffers.
template <size_t D, class Derived, class Options>
class TAPER_API NormImplBase : public Cloneable<Derived> {
 public:
  explicit NormImplBase(const Options& options);
  void reset() override;
  /// Weight 1, bias 0; forgets the running statistics.
  void reset_parameters();
  void reset_running_stats();

  Options options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;
};

/// Normalises each channel over the batch; in evaluation with the running statistics.
/// Ioffe and Szegedy, arXiv 1502.03167.
template <size_t D, class Derived>
class TAPER_API BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};

/// [batch, channels] or [batch, channels, length].
class TAPER_API BatchNorm1dImpl : public BatchNormImplBase<1, BatchNorm1dImpl> {
 public:
  using BatchNormImplBase<1, BatchNorm1dImpl>::BatchNormImplBase;
};
TAPER_MODULE(BatchNorm1d);

/// [batch, channels, height, width].
class TAPER_API BatchNorm2dImpl : public BatchNormImplBase<2, BatchNorm2dImpl> {
 public:
  using BatchNormImplBase<2, BatchNorm2dImpl>::BatchNormImplBase;
};
TAPER_MODULE(BatchNorm2d);

/// Normalises each channel of each sample by itself. Ulyanov et al., arXiv 1607.08022.
template <size_t D, class Derived>
class TAPER_API InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};

/// [batch, channels, length] or [channels, length].
class TAPER_API InstanceNorm1dImpl : public InstanceNormImpl<1, InstanceNorm1dImpl> {
 public:
  using InstanceNormImpl<1, InstanceNorm1dImpl>::InstanceNormImpl;
};
TAPER_MODULE(InstanceNorm1d);

/// [batch, channels, height, width] or [channels, height, width].
class TAPER_API InstanceNorm2dImpl : public InstanceNormImpl<2, InstanceNorm2dImpl> {
 public:
  using InstanceNormImpl<2, InstanceNorm2dImpl>::InstanceNormImpl;
};
TAPER_MODULE(InstanceNorm2d);

/// Normalises over the last dimensions. Ba et al., arXiv 1607.06450.
class TAPER_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape);
  explicit LayerNormImpl(const LayerNormOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LayerNormOptions options;
  Tensor weight;
  Tensor bias;
};
TAPER_MODULE(LayerNorm);

/// Normalises groups of channels of each sample. Wu and He, arXiv 1803.08494.
class TAPER_API GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels);
  explicit GroupNormImpl(const GroupNormOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GroupNormOptions options;
  Tensor weight;
  Tensor bias;
};
TAPER_MODULE(GroupNorm);

}  // namespace taper::nn
