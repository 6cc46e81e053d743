#pragma once

#include "taper/optim/optimizer.h"

namespace taper::optim {

namespace detail {

/// Settings of Adam and AdamW.
template <class Derived>
struct TAPER_API AdamFamilyOptions : public OptimizerCloneableOptions<Derived> {
  using betas_t = std::tuple<double, double>;
  AdamFamilyOptions(double lr, double weight_decay);

  void validate() const override;
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr());
    visit("betas", self.betas());
    visit("eps", self.eps());
    visit("weight_decay", self.weight_decay());
    visit("amsgrad", self.amsgrad());
    visit("maximize", self.maximize());
  }

#define TAPER_ADAM_ARG(Type, name)                      \
  Derived& name(Type value) {                           \
    name##_                                             \
    = std::move(value);                                 \
    return static_cast<Derived&>(*this);                \
  }                                                     \
  const Type& name() const noexcept { return name##_; } \
  Type& name() noexcept { return name##_; }
  TAPER_ADAM_ARG(double, lr)
  TAPER_ADAM_ARG(betas_t, betas)
  TAPER_ADAM_ARG(double, eps)
  TAPER_ADAM_ARG(double, weight_decay)
  TAPER_ADAM_ARG(bool, amsgrad)
  TAPER_ADAM_ARG(bool, maximize)
#undef TAPER_ADAM_ARG

 private:
  double lr_;
  betas_t betas_{0.9, 0.999};
  double eps_ = 1e-8;
  double weight_decay_;
  bool amsgrad_ = false;
  bool maximize_ = false;
};

/// Adam's step, with weight decay into the gradient or onto the weight.
template <class Options, bool kDecoupled>
class TAPER_API AdamFamily : public Optimizer {
 public:
  explicit AdamFamily(const std::vector<OptimizerParamGroup>& groups, Options defaults = {});
  explicit AdamFamily(std::vector<Tensor> params, Options defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace detail

struct TAPER_API AdamOptions : public detail::AdamFamilyOptions<AdamOptions> {
  AdamOptions(double lr = 1e-3);
};

struct TAPER_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  TAPER_ARG(int64_t, step) = 0;
  TAPER_ARG(Tensor, exp_avg);
  TAPER_ARG(Tensor, exp_avg_sq);
  TAPER_ARG(Tensor, max_exp_avg_sq);

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("step", self.step());
    visit("exp_avg", self.exp_avg());
    visit("exp_avg_sq", self.exp_avg_sq());
    visit("max_exp_avg_sq", self.max_exp_avg_sq());
  }
};

extern template class detail::AdamFamily<AdamOptions, false>;

/// Adam, as torch.optim.Adam (Kingma and Ba, arXiv 1412.6980): weight decay is added to the
/// gradient, eps to the root after the bias correction; `amsgrad` uses the largest second moment so
/// far.
class TAPER_API Adam : public detail::AdamFamily<AdamOptions, /*kDecoupled=*/false> {
 public:
  using AdamFamily::AdamFamily;
};

}  // namespace taper::optim
