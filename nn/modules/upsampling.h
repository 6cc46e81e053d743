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

}  // namespace taper::nn
