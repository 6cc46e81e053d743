#include "taper/optim/rmsprop.h"

#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
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
    detail::TensorLists lists;
    for (const Tensor& param : group.params()) {
      if (!param.grad().defined()) continue;
      detail::check_grad("RMSprop", param);
      RMSpropParamState& state = state_of<RMSpropParamState>(param);
      const auto started = [&](Tensor& moment, bool is_used) -> Tensor* {
        if (!is_used) return nullptr;
        if (!moment.defined()) moment = zeros(param.sizes(), param.options());
        return &moment;
      };
      ++state.step();
      lists.add(param, static_cast<double>(state.step()),
                {started(state.square_avg(), true),
                 started(state.momentum_buffer(), options.momentum() > 0),
                 started(state.grad_avg(), options.centered())});
    }
    kernels::OptimizerArgs args{};
    args.lr = options.lr();
    args.weight_decay = options.weight_decay();
    args.maximize = options.maximize();
    args.eps = options.eps();
    args.momentum = options.momentum();
    args.alpha = options.alpha();
    args.centered = options.centered();
    lists.run(&kernels::KernelTable::rmsprop_step, "RMSprop", args, found_inf_, inv_scale_);
  }
  return loss;
}

}  // namespace taper::optim
