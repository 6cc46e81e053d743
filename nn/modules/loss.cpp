#include "taper/nn/modules/loss.h"

#include <ostream>

#include "taper/nn/functional.h"

namespace taper::nn {

namespace F = functional;

// The texts are LibTorch's, uneven as they are: two losses print without brackets.
#define TAPER_DEFINE_LOSS(Name, function, ...)                               \
  Name##Impl::Name##Impl(const Name##Options& options) : options(options) {} \
  void Name##Impl::pretty_print(std::ostream& stream) const {                \
    stream << "torch::nn::" #Name __VA_ARGS__;                               \
  }                                                                          \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) {    \
    return F::function(input, target, options);                              \
  }
TAPER_DEFINE_LOSS(L1Loss, l1_loss, "()")
TAPER_DEFINE_LOSS(MSELoss, mse_loss, "()")
TAPER_DEFINE_LOSS(SmoothL1Loss, smooth_l1_loss, "")
TAPER_DEFINE_LOSS(HuberLoss, huber_loss, "")
TAPER_DEFINE_LOSS(KLDivLoss, kl_div, "()")
TAPER_DEFINE_LOSS(SoftMarginLoss, soft_margin_loss, "()")
TAPER_DEFINE_LOSS(HingeEmbeddingLoss, hinge_embedding_loss, "(margin=" << options.margin() << ")")
#undef TAPER_DEFINE_LOSS

#define TAPER_DEFINE_LOSS(Name, function)                                              \
  Name##Impl::Name##Impl(const Name##Options& options) : options(options) { reset(); } \
  void Name##Impl::reset() { weight = register_buffer("weight", options.weight()); }   \
  void Name##Impl::pretty_print(std::ostream& stream) const {                          \
    stream << "torch::nn::" #Name "()";                                                \
  }                                                                                    \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) {              \
    return F::function(input, target, Name##Options(options).weight(weight));          \
  }
TAPER_DEFINE_LOSS(CrossEntropyLoss, cross_entropy)
TAPER_DEFINE_LOSS(NLLLoss, nll_loss)
TAPER_DEFINE_LOSS(BCELoss, binary_cross_entropy)
#undef TAPER_DEFINE_LOSS

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(const BCEWithLogitsLossOptions& options)
    : options(options) {
  reset();
}
void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", options.weight());
  pos_weight = register_buffer("pos_weight", options.pos_weight());
}
void BCEWithLogitsLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::BCEWithLogitsLoss()";
}
Tensor BCEWithLogitsLossImpl::forward(const Tensor& input, const Tensor& target) {
  return F::binary_cross_entropy_with_logits(
      input, target, BCEWithLogitsLossOptions(options).weight(weight).pos_weight(pos_weight));
}

MarginRankingLossImpl::MarginRankingLossImpl(const MarginRankingLossOptions& options)
    : options(options) {}
void MarginRankingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::MarginRankingLoss()";
}
Tensor MarginRankingLossImpl::forward(const Tensor& input1, const Tensor& input2,
                                      const Tensor& target) {
  return F::margin_ranking_loss(input1, input2, target, options);
}

}  // namespace taper::nn
