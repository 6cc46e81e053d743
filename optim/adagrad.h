#pragma once

#include "taper/optim/optimizer.h"

namespace taper::optim {

struct TAPER_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2);
  TAPER_ARG(double, lr);
  TAPER_ARG(double, lr_decay) = 0;
  TAPER_ARG(double, weight_decay) = 0;
  TAPER_ARG(double, initial_accumulator_value) = 0;
  TAPER_ARG(double, eps) = 1e-10;
  TAPER_ARG(bool, maximize) = false;

 public:
  void validate() const override;
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr());
    visit("lr_decay", self.lr_decay());
    visit("weight_decay", self.weight_decay());
    visit("initial_accumulator_value", self.initial_accumulator_value());
    visit("eps", self.eps());
    visit("maximize", self.maximize());
  }
};

struct TAPER_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  TAPER_ARG(Tensor, sum);
  TAPER_ARG(int64_t, step) = 0;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("sum", self.sum());
    visit("step", self.step());
  }
};

/// As torch.optim.Adagrad (Duchi, Hazan and Singer, 2011): the gradient over the root of the sum of
/// all squares so far, with a rate that falls as lr / (1 + (step - 1) * lr_decay).
class TAPER_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(const std::vector<OptimizerParamGroup>& groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taper::optim
