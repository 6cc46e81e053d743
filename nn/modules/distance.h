#pragma once

#include "taper/nn/options/layer.h"

namespace taper::nn {

/// The cosine of the angle between two vectors along `dim`.
class TAPER_API CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& options = {});
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& x1, const Tensor& x2);

  CosineSimilarityOptions options;
};
TAPER_MODULE(CosineSimilarity);

/// The p-norm of the difference of two vectors along the last dimension.
class TAPER_API PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& options = {});
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& x1, const Tensor& x2);

  PairwiseDistanceOptions options;
};
TAPER_MODULE(PairwiseDistance);

}  // namespace taper::nn
