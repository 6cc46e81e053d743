#pragma once

#include <variant>

#include "taper/core/tensor.h"
#include "taper/nn/enum.h"
#include "taper/nn/module.h"

namespace taper::nn {

namespace detail {
using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
using kl_reduction_t =
    std::variant<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
TAPER_API int64_t to_reduction(const reduction_t& reduction);
}  // namespace detail

/// Options of a loss that only knows how to reduce: kMean unless set, or kSum, kNone.
#define TAPER_REDUCTION_OPTIONS(Name)                                                           \
  struct Name##Options {                                                                        \
    using reduction_t = detail::reduction_t;                                                    \
    Name##Options(reduction_t reduction = kMean) : reduction_(reduction) {}                     \
    template <class Enum, class = std::enable_if_t<std::is_constructible_v<reduction_t, Enum>>> \
    Name##Options(Enum reduction) : reduction_(reduction) {}                                    \
    TAPER_ARG(reduction_t, reduction);                                                          \
  }
TAPER_REDUCTION_OPTIONS(L1Loss);
TAPER_REDUCTION_OPTIONS(MSELoss);
TAPER_REDUCTION_OPTIONS(SoftMarginLoss);
#undef TAPER_REDUCTION_OPTIONS

struct CrossEntropyLossOptions {
  using reduction_t = detail::reduction_t;
  TAPER_ARG(Tensor, weight) = {};
  /// Targets of this value count for nothing.
  TAPER_ARG(int64_t, ignore_index) = -100;
  TAPER_ARG(reduction_t, reduction) = kMean;
  TAPER_ARG(double, label_smoothing) = 0.0;
};
struct NLLLossOptions {
  using reduction_t = detail::reduction_t;
  TAPER_ARG(Tensor, weight) = {};
  TAPER_ARG(int64_t, ignore_index) = -100;
  TAPER_ARG(reduction_t, reduction) = kMean;
};
struct BCELossOptions {
  using reduction_t = detail::reduction_t;
  TAPER_ARG(Tensor, weight) = {};
  TAPER_ARG(reduction_t, reduction) = kMean;
};
struct BCEWithLogitsLossOptions {
  using reduction_t = detail::reduction_t;
  TAPER_ARG(Tensor, weight) = {};
  TAPER_ARG(reduction_t, reduction) = kMean;
  TAPER_ARG(Tensor, pos_weight) = {};
};
struct SmoothL1LossOptions {
  using reduction_t = detail::reduction_t;
  TAPER_ARG(reduction_t, reduction) = kMean;
  TAPER_ARG(std::optional<double>, beta) = std::nullopt;
};
struct HuberLossOptions {
  using reduction_t = detail::reduction_t;
  TAPER_ARG(reduction_t, reduction) = kMean;
  TAPER_ARG(double, delta) = 1.0;
};
struct KLDivLossOptions {
  using reduction_t = detail::kl_reduction_t;
  TAPER_ARG(reduction_t, reduction) = kMean;
  TAPER_ARG(bool, log_target) = false;
};
struct HingeEmbeddingLossOptions {
  using reduction_t = detail::reduction_t;
  TAPER_ARG(double, margin) = 1.0;
  TAPER_ARG(reduction_t, reduction) = kMean;
};
struct MarginRankingLossOptions {
  using reduction_t = detail::reduction_t;
  TAPER_ARG(double, margin) = 0;
  TAPER_ARG(reduction_t, reduction) = kMean;
};

namespace functional {
using L1LossFuncOptions = L1LossOptions;
using MSELossFuncOptions = MSELossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
}  // namespace functional
}  // namespace taper::nn
