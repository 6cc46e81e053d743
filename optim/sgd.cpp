#include "taper/optim/sgd.h"

#include "taper/autograd/grad_mode.h"
#include "taper/optim/multi_tensor.h"

namespace taper::optim {

SGDOptions::SGDOptions(double lr) : lr_(lr) {}

void SGDOptions::validate() const {
  detail::check_at_least(0, lr_, "learning rate");
  detail::check_at_least(0, momentum_, "momentum value");
  detail::check_at_least(0, weight_decay_, "weight_decay value");
  TAPER_CHECK_VALUE(!nesterov_ || (momentum_ > 0 && dampening_ == 0),
                    "Nesterov momentum requires a momentum and zero dampening");
}

SGD::SGD(const std::vector<OptimizerParamGroup>& groups, SGDOptions defaults)
    : Optimizer(groups, std::make_unique<SGDOptions>(std::move(defaults))) {}
SGD::SGD(std::vector<Tensor> params, SGDOptions defaults)
    : Optimizer(std::move(params), std::make_unique<SGDOptions>(std::move(defaults))) {}

std::unique_ptr<OptimizerParamState> SGD::new_state() const {
  return std::make_unique<SGDParamState>();
}

Tensor SGD::step(LossClosure closure) {
  const NoGradGuard quiet;
  Tensor loss = run_closure(closure);
  if (is_skipped()) return loss;
  detail::check_grads("SGD", param_groups_);
  for (const OptimizerParamGroup& group : param_groups_) {
    const SGDOptions& options = options_of<SGDOptions>(group);
    detail::TensorLists lists("SGD");
    for (const Tensor& param : group.params()) {
      if (!param.grad().defined()) continue;
      if (options.momentum() == 0) {
        lists.add(param, 1, {});
        continue;
      }
      Tensor& buffer = state_of<SGDParamState>(param).momentum_buffer();
      const bool is_first = !buffer.defined();
      lists.add(param, is_first ? 1 : 2, {&buffer});
    }
    kernels::OptimizerArgs args{};
    args.lr = options.lr();
    args.weight_decay = options.weight_decay();
    args.maximize = options.maximize();
    args.momentum = options.momentum();
    args.dampening = options.dampening();
    args.nesterov = options.nesterov();
    lists.run(&kernels::KernelTable::sgd_step, args, found_inf_, inv_scale_);
  }
  return loss;
}

}  // namespace taper::optim
