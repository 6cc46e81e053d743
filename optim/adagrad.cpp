#include "taper/optim/adagrad.h"

#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/optim/multi_tensor.h"

namespace taper::optim {

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}

void AdagradOptions::validate() const {
  detail::check_at_least(0, lr_, "learning rate");
  detail::check_at_least(0, lr_decay_, "lr_decay value");
  detail::check_at_least(0, weight_decay_, "weight_decay value");
  detail::check_at_least(0, initial_accumulator_value_, "initial_accumulator_value value");
  detail::check_at_least(0, eps_, "epsilon value");
}

Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& groups, AdagradOptions defaults)
    : Optimizer(groups, std::make_unique<AdagradOptions>(std::move(defaults))) {}
Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions defaults)
    : Optimizer(std::move(params), std::make_unique<AdagradOptions>(std::move(defaults))) {}

std::unique_ptr<OptimizerParamState> Adagrad::new_state() const {
  return std::make_unique<AdagradParamState>();
}

Tensor Adagrad::step(LossClosure closure) {
  const NoGradGuard quiet;
  Tensor loss = run_closure(closure);
  if (is_skipped()) return loss;
  for (const OptimizerParamGroup& group : param_groups_) {
    const AdagradOptions& options = options_of<AdagradOptions>(group);
    for (const Tensor& param : group.params()) {
      if (!param.grad().defined()) continue;
      const Tensor grad = detail::step_grad("Adagrad", param, options.weight_decay(),
                                            options.maximize(), inv_scale_);
      AdagradParamState& state = state_of<AdagradParamState>(param);
      if (!state.sum().defined()) {
        state.sum() = full(param.sizes(), options.initial_accumulator_value(), param.options());
      }
      ++state.step();
      const double past = static_cast<double>(state.step() - 1);
      const double rate = options.lr() / (1 + past * options.lr_decay());
      state.sum().addcmul_(grad, grad);
      param.addcdiv_(grad, state.sum().sqrt().add_(options.eps()), -rate);
    }
  }
  return loss;
}

}  // namespace taper::optim
