#pragma once

#include "taper/nn/options/convolution.h"

namespace taper::nn {

/// What Conv1d and Conv2d share. weight [out_channels, in_channels / groups, *kernel], bias
/// [out_channels].
template <size_t D, class Derived>
class TAPER_API ConvImpl : public Cloneable<Derived> {
 public:
  explicit ConvImpl(const ConvOptions<D>& options);
  void reset() override;
  /// Kaiming-uniform weights, bias uniform within 1 / sqrt(fan_in).
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  ConvOptions<D> options;
  Tensor weight;
  Tensor bias;

 protected:
  /// The input as the convolution takes it, and the padding that is left to it.
  std::pair<Tensor, typename ConvOptions<D>::padding_t> padded(const Tensor& input) const;
};

/// Cross-correlation over [batch, in_channels, length] or [in_channels, length].
class TAPER_API Conv1dImpl : public ConvImpl<1, Conv1dImpl> {
 public:
  Conv1dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<1> kernel_size);
  explicit Conv1dImpl(const Conv1dOptions& options);
  Tensor forward(const Tensor& input);
};
TAPER_MODULE(Conv1d);

/// Cross-correlation over [batch, in_channels, height, width] or without the batch.
class TAPER_API Conv2dImpl : public ConvImpl<2, Conv2dImpl> {
 public:
  Conv2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size);
  explicit Conv2dImpl(const Conv2dOptions& options);
  Tensor forward(const Tensor& input);
};
TAPER_MODULE(Conv2d);

/// What the transposed convolutions share. weight [in_channels, out_channels / groups, *kernel].
template <size_t D, class Derived>
class TAPER_API ConvTransposeImpl : public Cloneable<Derived> {
 public:
  explicit ConvTransposeImpl(const ConvTransposeOptions<D>& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  static constexpr size_t kForwardDefaultArguments = 1;

  ConvTransposeOptions<D> options;
  Tensor weight;
  Tensor bias;

 protected:
  /// The padding that makes the output as large as asked for.
  ExpandingArray<D> output_padding_for(const Tensor& input,
                                       const std::optional<IntArrayRef>& output_size) const;
};

/// The gradient of Conv1d with respect to its input, as a layer. A stride allows several output
/// sizes: `output_size` ([length], or with batch and channels before it) chooses one.
class TAPER_API ConvTranspose1dImpl : public ConvTransposeImpl<1, ConvTranspose1dImpl> {
 public:
  ConvTranspose1dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<1> kernel_size);
  explicit ConvTranspose1dImpl(const ConvTranspose1dOptions& options);
  Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = std::nullopt);
};
TAPER_MODULE(ConvTranspose1d);

class TAPER_API ConvTranspose2dImpl : public ConvTransposeImpl<2, ConvTranspose2dImpl> {
 public:
  ConvTranspose2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size);
  explicit ConvTranspose2dImpl(const ConvTranspose2dOptions& options);
  Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = std::nullopt);
};
TAPER_MODULE(ConvTranspose2d);

}  // namespace taper::nn
