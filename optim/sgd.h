#pragma once

#include "taper/optim/optimizer.h"

namespace taper::optim {

struct TAPER_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr = 1e-3);
  TAPER_ARG(double, lr);
  TAPER_ARG(double, momentum) = 0;
  TAPER_ARG(double, dampening) = 0;
  TAPER_ARG(double, weight_decay) = 0;
  TAPER_ARG(bool, nesterov) = false;
  TAPER_ARG(bool, maximize) = false;

 public:
  void validate() const override;
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr());
    visit("momentum", self.momentum());
    visit("dampening", self.dampening());
    visit("weight_decay", self.weight_decay());
    visit("nesterov", self.nesterov());
    visit("maximize", self.maximize());
  }
};

struct TAPER_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  TAPER_ARG(Tensor, momentum_buffer);

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("momentum_buffer", self.momentum_buffer());
  }
};

/// Stochastic gradient descent, as torch.optim.SGD: with g the gradient plus weight_decay * p, and
/// with momentum buf = momentum * buf + (1 - dampening) * g (at first buf = g), then p -= lr * buf,
/// or, with nesterov, p -= lr * (g + momentum * buf).
class TAPER_API SGD : public Optimizer {
 public:
  explicit SGD(const std::vector<OptimizerParamGroup>& groups, SGDOptions defaults = {});
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace taper::optim
