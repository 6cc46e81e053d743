#include "taper/optim/rmsprop.h"

#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/optim/multi_tensor.h"

namespace taper::optim {

RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}

void RMSpropOptions::validate() const {
  detail::check_at_least(0, lr_, "learning rate");
  detail::check_at_least(0, eps_, "epsilon value");
  detail::check_at_least(0, momentum_, "momentum value");
  detail::check_at_least(0, weight_decay_, "weight_decay value");
  detail::check_at_least(0, alpha_, "alpha value");
}

RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& groups, RMSpropOptions defaults)
    : Optimizer(groups, std::make_unique<RMSpropOptions>(std::move(defaults))) {}
RMSprop::RMSprop(std::vector<Tensor> params, RMSpropOptions defaults)
    : Optimizer(std::move(params), std::make_unique<RMSpropOptions>(std::move(defaults))) {}

std::unique_ptr<OptimizerParamState> RMSprop::new_state() const {
  return std::make_unique<RMSpropParamState>();
}

Tensor RMSprop::step(LossClosure closure) {
  const NoGradGuard quiet;
  Tensor loss = run_closure(closure);
  if (is_skipped()) return loss;
  for (const OptimizerParamGroup& group : param_groups_) {
    const RMSpropOptions& options = options_of<RMSpropOptions>(group);
    const double rest = 1 - options.alpha();
    for (const Tensor& param : group.params()) {
      if (!param.grad().defined()) continue;
      const Tensor grad = detail::step_grad("RMSprop", param, options.weight_decay(),
                                            options.maximize(), inv_scale_);
      RMSpropParamState& state = state_of<RMSpropParamState>(param);
      const auto start_at_zero = [&](Tensor& moment) {
        if (!moment.defined()) moment = zeros(param.sizes(), param.options());
      };
      start_at_zero(state.square_avg());
      ++state.step();
      state.square_avg().mul_(options.alpha()).addcmul_(grad, grad, rest);
      Tensor root;
      if (options.centered()) {
        start_at_zero(state.grad_avg());
        state.grad_avg().lerp_(grad, rest);
        root = state.square_avg().addcmul(state.grad_avg(), state.grad_avg(), -1).sqrt();
      } else {
        root = state.square_avg().sqrt();
      }
      root.add_(options.eps());
      if (options.momentum() > 0) {
        start_at_zero(state.momentum_buffer());
        state.momentum_buffer().mul_(options.momentum()).addcdiv_(grad, root);
        param.add_(state.momentum_buffer(), -options.lr());
      } else {
        param.addcdiv_(grad, root, -options.lr());
      }
    }
  }
  return loss;
}

}  // namespace taper::optim
