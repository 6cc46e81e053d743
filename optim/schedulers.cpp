#include "taper/optim/schedulers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace taper::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (OptimizerParamGroup& group : optimizer_.param_groups()) {
    // Several schedulers start from the rate that the first one found.
    if (!group.initial_lr()) group.initial_lr() = group.options().get_lr();
    base_lrs_.push_back(*group.initial_lr());
  }
}

LRScheduler::~LRScheduler() = default;

void LRScheduler::step() {
  ++step_count_;
  apply();
}

void LRScheduler::apply() { set_lrs(get_lrs()); }

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> lrs;
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) {
    lrs.push_back(group.options().get_lr());
  }
  return lrs;
}

void LRScheduler::set_lrs(const std::vector<double>& lrs) {
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  TAPER_CHECK(lrs.size() == groups.size(),
              "Number of learning rates not equal to the number of "
              "param groups: the scheduler has ",
              lrs.size(), ", the optimizer ", groups.size());
  for (size_t i = 0; i < lrs.size(); ++i) groups[i].options().set_lr(lrs[i]);
}

void LRScheduler::save(serialize::OutputArchive& archive) const {
  archive.write("last_epoch", IValue(step_count_));
  archive.write("base_lrs", IValue(base_lrs_));
}

void LRScheduler::load(serialize::InputArchive& archive) {
  IValue last_epoch, base_lrs;
  archive.read("last_epoch", last_epoch);
  archive.read("base_lrs", base_lrs);
  std::vector<double> rates = base_lrs.toDoubleVector();
  TAPER_CHECK_VALUE(rates.size() == base_lrs_.size(), "loaded scheduler has ", rates.size(),
                    " parameter groups, this one has ", base_lrs_.size());
  step_count_ = last_epoch.toInt();
  base_lrs_ = std::move(rates);
}

namespace {

template <class F>
std::vector<double> each(std::vector<double> lrs, F change) {
  for (double& lr : lrs) lr = change(lr);
  return lrs;
}

}  // namespace

StepLR::StepLR(Optimizer& optimizer, unsigned step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  TAPER_CHECK_VALUE(step_size > 0, "StepLR: expected a step_size of at least 1, but got 0");
}

std::vector<double> StepLR::get_lrs() {
  const bool is_due = step_count_ > 0 && step_count_ % step_size_ == 0;
  return each(get_current_lrs(), [&](double lr) { return is_due ? lr * gamma_ : lr; });
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {}

std::vector<double> MultiStepLR::get_lrs() {
  const auto due = std::count(milestones_.begin(), milestones_.end(), step_count_);
  return each(get_current_lrs(), [&](double lr) {
    return due ? lr * std::pow(gamma_, static_cast<double>(due)) : lr;
  });
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : LRScheduler(optimizer), gamma_(gamma) {}

std::vector<double> ExponentialLR::get_lrs() {
  return each(get_current_lrs(), [&](double lr) { return step_count_ > 0 ? lr * gamma_ : lr; });
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min)
    : LRScheduler(optimizer), t_max_(t_max), eta_min_(eta_min) {
  TAPER_CHECK_VALUE(t_max > 0, "CosineAnnealingLR: expected a t_max of at least 1, but got ",
                    t_max);
}

std::vector<double> CosineAnnealingLR::get_lrs() {
  constexpr double kPi = std::numbers::pi;
  std::vector<double> lrs = get_current_lrs();
  lrs.resize(base_lrs().size());  // step() reports groups that were added since
  const double t_max = static_cast<double>(t_max_), epoch = static_cast<double>(step_count_);
  for (size_t i = 0; i < lrs.size(); ++i) {
    if ((step_count_ - 1 - t_max_) % (2 * t_max_) == 0) {
      // At the bottom the recursion would divide by zero.
      lrs[i] += (base_lrs()[i] - eta_min_) * (1 - std::cos(kPi / t_max)) / 2;
    } else {
      lrs[i] = (1 + std::cos(kPi * epoch / t_max)) / (1 + std::cos(kPi * (epoch - 1) / t_max)) *
                   (lrs[i] - eta_min_) +
               eta_min_;
    }
  }
  return lrs;
}

LambdaLR::LambdaLR(Optimizer& optimizer, Lambda lambda)
    : LambdaLR(optimizer, std::vector<Lambda>(optimizer.param_groups().size(), lambda)) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Lambda> lambdas)
    : LRScheduler(optimizer), lambdas_(std::move(lambdas)) {
  TAPER_CHECK_VALUE(lambdas_.size() == base_lrs().size(), "Expected ", base_lrs().size(),
                    " lr_lambdas, but got ", lambdas_.size());
  apply();
}

std::vector<double> LambdaLR::get_lrs() {
  std::vector<double> lrs;
  for (size_t i = 0; i < lambdas_.size(); ++i) {
    lrs.push_back(base_lrs()[i] * lambdas_[i](step_count_));
  }
  return lrs;
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   int64_t total_iters)
    : LRScheduler(optimizer),
      start_factor_(start_factor),
      end_factor_(end_factor),
      total_iters_(total_iters) {
  TAPER_CHECK_VALUE(start_factor > 0 && start_factor <= 1,
                    "Starting multiplicative factor expected to be greater than 0 and less or "
                    "equal to 1, but got ",
                    start_factor);
  TAPER_CHECK_VALUE(end_factor >= 0 && end_factor <= 1,
                    "Ending multiplicative factor expected to be between 0 and 1, but got ",
                    end_factor);
  apply();
}

std::vector<double> LinearLR::get_lrs() {
  const double change = end_factor_ - start_factor_;
  const double before = static_cast<double>(step_count_ - 1);
  const double factor =
      step_count_ == 0 ? start_factor_
      : step_count_ > total_iters_
          ? 1
          : 1 + change / (static_cast<double>(total_iters_) * start_factor_ + before * change);
  return each(get_current_lrs(), [&](double lr) { return lr * factor; });
}

}  // namespace taper::optim
