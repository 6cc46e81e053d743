#include "taper/optim/adagrad.h"

#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
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
  detail::check_grads("Adagrad", param_groups_);
  for (const OptimizerParamGroup& group : param_groups_) {
    const AdagradOptions& options = options_of<AdagradOptions>(group);
    detail::TensorLists lists("Adagrad");
    for (const Tensor& param : group.params()) {
      if (!param.grad().defined()) continue;
      AdagradParamState& state = state_of<AdagradParamState>(param);
      if (!state.sum().defined()) {
        state.sum() = full(param.sizes(), options.initial_accumulator_value(), param.options());
      }
      lists.add(param, &state.step(), {&state.sum()});
    }
    kernels::OptimizerArgs args{};
    args.lr = options.lr();
    args.weight_decay = options.weight_decay();
    args.maximize = options.maximize();
    args.eps = options.eps();
    args.lr_decay = options.lr_decay();
    lists.run(&kernels::KernelTable::adagrad_step, args, found_inf_, inv_scale_);
  }
  return loss;
}

}  // namespace taper::optim
