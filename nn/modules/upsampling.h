#pragma once

#include "taper/nn/options/pooling.h"

namespace taper::nn {

/// Resizes [batch, channels, ...] to a size, or by a factor.
class TAPER_API UpsampleImpl : public Cloneable<UpsampleImpl> {
 public:
  explicit UpsampleImpl(const UpsampleOptions& options = {});
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  UpsampleOptions options;
};
TAPER_MODULE(Upsample);

/// [batch, channels * r * r, height, width] to [batch, channels, height * r, width * r]. Shi et
/// al., arXiv 1609.05158.
class TAPER_API PixelShuffleImpl : public Cloneable<PixelShuffleImpl> {
 public:
  explicit PixelShuffleImpl(const PixelShuffleOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PixelShuffleOptions options;
};
TAPER_MODULE(PixelShuffle);

/// The inverse of PixelShuffle.
class TAPER_API PixelUnshuffleImpl : public Cloneable<PixelUnshuffleImpl> {
 public:
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PixelUnshuffleOptions options;
};
TAPER_MODULE(PixelUnshuffle);

}  // namespace taper::nn
