#pragma once

#include "taper/optim/optimizer.h"

namespace taper::optim {

struct TAPER_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2);
  TAPER_ARG(double, lr);
  TAPER_ARG(double, alpha) = 0.99;
  TAPER_ARG(double, eps) = 1e-8;
  TAPER_ARG(double, weight_decay) = 0;
  TAPER_ARG(double, momentum) = 0;
  TAPER_ARG(bool, centered) = false;
  TAPER_ARG(bool, maximize) = false;

 public:
  void validate() const override;
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr());
    visit("alpha", self.alpha());
    visit("eps", self.eps());
    visit("weight_decay", self.weight_decay());
    visit("momentum", self.momentum());
    visit("centered", self.centered());
    visit("maximize", self.maximize());
  }
};

struct TAPER_API RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  TAPER_ARG(int64_t, step) = 0;
  TAPER_ARG(Tensor, square_avg);
  TAPER_ARG(Tensor, momentum_buffer);
  TAPER_ARG(Tensor, grad_avg);

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("step", self.step());
    visit("square_avg", self.square_avg());
    visit("momentum_buffer", self.momentum_buffer());
    visit("grad_avg", self.grad_avg());
  }
};

/// As torch.optim.RMSprop: the gradient over the root of its running mean square (over its standard
/// deviation when `centered`), with momentum on the result.
class TAPER_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(const std::vector<OptimizerParamGroup>& groups, RMSpropOptions defaults = {});
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taper::optim
