#include "taper/optim/adam.h"

#include "taper/autograd/grad_mode.h"
#include "taper/optim/adamw.h"
#include "taper/optim/multi_tensor.h"

namespace taper::optim {

AdamOptions::AdamOptions(double lr) : AdamFamilyOptions(lr, 0) {}
AdamWOptions::AdamWOptions(double lr) : AdamFamilyOptions(lr, 1e-2) {}

namespace detail {

template <class Derived>
AdamFamilyOptions<Derived>::AdamFamilyOptions(double lr, double weight_decay)
    : lr_(lr), weight_decay_(weight_decay) {}

template <class Derived>
void AdamFamilyOptions<Derived>::validate() const {
  const auto check_beta = [](double beta, int index) {
    TAPER_CHECK_VALUE(beta >= 0 && beta < 1, "Invalid beta parameter at index ", index, ": ", beta);
  };
  check_at_least(0, lr_, "learning rate");
  check_at_least(0, eps_, "epsilon value");
  check_beta(std::get<0>(betas_), 0);
  check_beta(std::get<1>(betas_), 1);
  check_at_least(0, weight_decay_, "weight_decay value");
}

template <class Options, bool kDecoupled>
AdamFamily<Options, kDecoupled>::AdamFamily(const std::vector<OptimizerParamGroup>& groups,
                                            Options defaults)
    : Optimizer(groups, std::make_unique<Options>(std::move(defaults))) {}
template <class Options, bool kDecoupled>
AdamFamily<Options, kDecoupled>::AdamFamily(std::vector<Tensor> params, Options defaults)
    : Optimizer(std::move(params), std::make_unique<Options>(std::move(defaults))) {}

template <class Options, bool kDecoupled>
std::unique_ptr<OptimizerParamState> AdamFamily<Options, kDecoupled>::new_state() const {
  return std::make_unique<AdamParamState>();
}

template <class Options, bool kDecoupled>
Tensor AdamFamily<Options, kDecoupled>::step(LossClosure closure) {
  constexpr const char* kName = kDecoupled ? "AdamW" : "Adam";
  const NoGradGuard quiet;
  Tensor loss = run_closure(closure);
  if (is_skipped()) return loss;
  check_grads(kName, param_groups_);
  for (const OptimizerParamGroup& group : param_groups_) {
    const Options& options = options_of<Options>(group);
    TensorLists lists(kName);
    for (const Tensor& param : group.params()) {
      if (!param.grad().defined()) continue;
      AdamParamState& state = state_of<AdamParamState>(param);
      lists.add(param, &state.step(),
                {&state.exp_avg(), &state.exp_avg_sq(),
                 options.amsgrad() ? &state.max_exp_avg_sq() : nullptr});
    }
    kernels::OptimizerArgs args{};
    args.lr = options.lr();
    args.weight_decay = options.weight_decay();
    args.maximize = options.maximize();
    args.beta1 = std::get<0>(options.betas());
    args.beta2 = std::get<1>(options.betas());
    args.eps = options.eps();
    args.decoupled = kDecoupled;
    args.amsgrad = options.amsgrad();
    lists.run(&kernels::KernelTable::adam_step, args, found_inf_, inv_scale_);
  }
  return loss;
}

template struct AdamFamilyOptions<AdamOptions>;
template struct AdamFamilyOptions<AdamWOptions>;
template class AdamFamily<AdamOptions, false>;
template class AdamFamily<AdamWOptions, true>;

}  // namespace detail

}  // namespace taper::optim
