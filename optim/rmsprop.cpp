#include "taper/optim/rmsprop.h"

#include "taper/autograd/grad_mode.h"
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
  detail::check_grads("RMSprop", param_groups_);
  for (const OptimizerParamGroup& group : param_groups_) {
    const RMSpropOptions& options = options_of<RMSpropOptions>(group);
    detail::TensorLists lists("RMSprop");
    for (const Tensor& param : group.params()) {
      if (!param.grad().defined()) continue;
      RMSpropParamState& state = state_of<RMSpropParamState>(param);
      lists.add(param, &state.step(),
                {&state.square_avg(), options.momentum() > 0 ? &state.momentum_buffer() : nullptr,
                 options.centered() ? &state.grad_avg() : nullptr});
    }
    kernels::OptimizerArgs args{};
    args.lr = options.lr();
    args.weight_decay = options.weight_decay();
    args.maximize = options.maximize();
    args.eps = options.eps();
    args.momentum = options.momentum();
    args.alpha = options.alpha();
    args.centered = options.centered();
    lists.run(&kernels::KernelTable::rmsprop_step, args, found_inf_, inv_scale_);
  }
  return loss;
}

}  // namespace taper::optim
