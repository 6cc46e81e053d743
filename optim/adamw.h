#pragma once

#include "taper/optim/adam.h"

namespace taper::optim {

struct TAPER_API AdamWOptions : public detail::AdamFamilyOptions<AdamWOptions> {
  AdamWOptions(double lr = 1e-3);
};

using AdamWParamState = AdamParamState;

extern template class detail::AdamFamily<AdamWOptions, true>;

/// Adam with decoupled weight decay, as torch.optim.AdamW (Loshchilov and Hutter, arXiv
/// 1711.05101): the weight first shrinks by lr * weight_decay, and the gradient stays as it is.
class TAPER_API AdamW : public detail::AdamFamily<AdamWOptions, /*kDecoupled=*/true> {
 public:
  using AdamFamily::AdamFamily;
};

}  // namespace taper::optim
