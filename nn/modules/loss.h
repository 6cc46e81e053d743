#pragma once

#include "taper/nn/options/loss.h"

// Losses as modules: forward(input, target) gives one number, or with kNone one for each sample or
// element.

namespace taper::nn {

#define TAPER_LOSS(Name)                                       \
  class TAPER_API Name##Impl : public Cloneable<Name##Impl> {  \
   public:                                                     \
    explicit Name##Impl(const Name##Options& options = {});    \
    void reset() override {}                                   \
    void pretty_print(std::ostream& stream) const override;    \
    Tensor forward(const Tensor& input, const Tensor& target); \
                                                               \
    Name##Options options;                                     \
  };                                                           \
  TAPER_MODULE(Name)

TAPER_LOSS(L1Loss);              ///< |x - y|
TAPER_LOSS(MSELoss);             ///< (x - y)^2
TAPER_LOSS(SmoothL1Loss);        ///< quadratic below beta, then linear
TAPER_LOSS(HuberLoss);           ///< the same, scaled by delta
TAPER_LOSS(KLDivLoss);           ///< y * (log y - x); input is a log-probability
TAPER_LOSS(SoftMarginLoss);      ///< log(1 + exp(-y x)), y = 1 or -1
TAPER_LOSS(HingeEmbeddingLoss);  ///< x where y = 1, max(0, margin - x) where y = -1
#undef TAPER_LOSS

/// Those with a weight per class or element, which is a buffer: it moves with the module.
#define TAPER_LOSS(Name)                                       \
  class TAPER_API Name##Impl : public Cloneable<Name##Impl> {  \
   public:                                                     \
    explicit Name##Impl(const Name##Options& options = {});    \
    void reset() override;                                     \
    void pretty_print(std::ostream& stream) const override;    \
    Tensor forward(const Tensor& input, const Tensor& target); \
                                                               \
    Name##Options options;                                     \
    Tensor weight;                                             \
  };                                                           \
  TAPER_MODULE(Name)

TAPER_LOSS(CrossEntropyLoss);  ///< logits [batch, classes, ...]; class indices or probabilities
TAPER_LOSS(NLLLoss);           ///< log-probabilities [batch, classes, ...]; class indices
TAPER_LOSS(BCELoss);           ///< probabilities in [0, 1]
#undef TAPER_LOSS

/// Binary cross-entropy of logits, exact for large ones. `pos_weight` weighs the positive class.
class TAPER_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(const BCEWithLogitsLossOptions& options = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCEWithLogitsLossOptions options;
  Tensor weight;
  Tensor pos_weight;
};
TAPER_MODULE(BCEWithLogitsLoss);

/// max(0, -y (x1 - x2) + margin)
class TAPER_API MarginRankingLossImpl : public Cloneable<MarginRankingLossImpl> {
 public:
  explicit MarginRankingLossImpl(const MarginRankingLossOptions& options = {});
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);

  MarginRankingLossOptions options;
};
TAPER_MODULE(MarginRankingLoss);

}  // namespace taper::nn
