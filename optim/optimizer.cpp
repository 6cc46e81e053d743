#include "taper/optim/optimizer.h"

#include <unordered_set>

#include "taper/autograd/grad_mode.h"
#include "taper/core/ops.h"

namespace taper::optim {

namespace detail {

void check_at_least(double least, double value, const char* what) {
  TAPER_CHECK_VALUE(value >= least, "Invalid ", what, ": ", value);
}

}  // namespace detail

OptimizerParamState::~OptimizerParamState() = default;
OptimizerOptions::~OptimizerOptions() = default;
Optimizer::~Optimizer() = default;

OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params,
                                         std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}
OptimizerParamGroup::OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup& OptimizerParamGroup::operator=(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup::~OptimizerParamGroup() = default;
void OptimizerParamGroup::set_options(std::unique_ptr<OptimizerOptions> options) {
  options_ = std::move(options);
}

OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_),
      options_(other.has_options() ? other.options_->clone() : nullptr),
      initial_lr_(other.initial_lr_) {}

OptimizerParamGroup& OptimizerParamGroup::operator=(const OptimizerParamGroup& other) {
  return *this = OptimizerParamGroup(other);
}

OptimizerOptions& OptimizerParamGroup::options() {
  TAPER_CHECK(has_options(), "this parameter group has no options of its own yet");
  return *options_;
}
const OptimizerOptions& OptimizerParamGroup::options() const {
  return const_cast<OptimizerParamGroup*>(this)->options();
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  defaults_->validate();
  TAPER_CHECK_VALUE(!groups.empty(), "optimizer got an empty parameter list");
  for (const OptimizerParamGroup& group : groups) add_param_group(group);
}

Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  defaults_->validate();
  TAPER_CHECK_VALUE(!parameters.empty(), "optimizer got an empty parameter list");
  add_param_group(OptimizerParamGroup(std::move(parameters)));
}

void Optimizer::add_param_group(const OptimizerParamGroup& group) {
  OptimizerParamGroup added(group);
  if (added.has_options()) {
    added.options().inherit(*defaults_);
    added.options().validate();
  } else {
    added.set_options(defaults_->clone());
  }
  added.params() = checked(group.params(), param_groups_.size());
  param_groups_.push_back(std::move(added));
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  const std::vector<Tensor> added = checked(parameters, 0);
  std::vector<Tensor>& params = param_groups_.front().params();
  params.insert(params.end(), added.begin(), added.end());
}

// Those of `parameters` that are not yet in the group with this number, each once.
std::vector<Tensor> Optimizer::checked(const std::vector<Tensor>& parameters, size_t group) const {
  std::unordered_set<const TensorImpl*> present, elsewhere;
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    for (const Tensor& parameter : param_groups_[g].params()) {
      (g == group ? present : elsewhere).insert(parameter.unsafe_impl());
    }
  }
  std::vector<Tensor> out;
  for (const Tensor& parameter : parameters) {
    TAPER_CHECK(parameter.defined(), "optimizer can't optimize an undefined Tensor");
    TAPER_CHECK_VALUE(parameter.is_leaf(), "can't optimize a non-leaf Tensor");
    TAPER_CHECK_VALUE(!elsewhere.contains(parameter.unsafe_impl()),
                      "some parameters appear in more than one parameter group");
    if (present.insert(parameter.unsafe_impl()).second) out.push_back(parameter);
  }
  return out;
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : param_groups_) {
    for (Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      if (set_to_none) {
        parameter.mutable_grad().reset();
      } else {
        parameter.mutable_grad().detach_().zero_();
      }
    }
  }
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all;
  for (const OptimizerParamGroup& group : param_groups_) {
    all.insert(all.end(), group.params().begin(), group.params().end());
  }
  return all;
}

size_t Optimizer::size() const noexcept {
  size_t count = 0;
  for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
  return count;
}

void Optimizer::set_grad_scale(Tensor found_inf, Tensor inv_scale) {
  for (const Tensor& number : {found_inf, inv_scale}) {
    TAPER_CHECK(!number.defined() || (number.numel() == 1 && number.scalar_type() == kFloat),
                "set_grad_scale: expected tensors of one float");
  }
  found_inf_ = std::move(found_inf);
  inv_scale_ = std::move(inv_scale);
}

Tensor Optimizer::run_closure(const LossClosure& closure) {
  if (!closure) return {};
  const EnableGradGuard recording;
  return closure();
}

bool Optimizer::is_skipped() const {
  return found_inf_.defined() && found_inf_.is_cpu() && *found_inf_.const_data_ptr<float>() != 0;
}

}  // namespace taper::optim
