#include "taper/optim/reduce_on_plateau.h"

#include <algorithm>

namespace taper::optim {

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, SchedulerMode mode, double factor,
                                     int64_t patience, double threshold,
                                     ThresholdMode threshold_mode, int64_t cooldown,
                                     std::vector<double> min_lr, double eps)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      cooldown_(cooldown),
      min_lr_(std::move(min_lr)),
      eps_(eps),
      best_(mode == min ? std::numeric_limits<double>::infinity()
                        : -std::numeric_limits<double>::infinity()) {
  TAPER_CHECK_VALUE(factor < 1, "Factor should be < 1.0, but got ", factor);
  const size_t groups = optimizer.param_groups().size();
  if (min_lr_.empty()) min_lr_ = {0};
  if (min_lr_.size() == 1) min_lr_.resize(groups, min_lr_[0]);
  TAPER_CHECK_VALUE(min_lr_.size() == groups, "expected ", groups, " min_lrs, got ",
                    min_lr_.size());
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const double sign = mode_ == min ? -1 : 1;
  const double bound =
      threshold_mode_ == rel ? best_ * (1 + sign * threshold_) : best_ + sign * threshold_;
  return mode_ == min ? metric < bound : metric > bound;
}

void ReduceLROnPlateau::step(double metric) {
  ++last_epoch_;
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ > patience_) {
    reduce_lrs();
    cooldown_left_ = cooldown_;
    bad_epochs_ = 0;
  }
}

void ReduceLROnPlateau::reduce_lrs() {
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const double lr = groups[i].options().get_lr();
    const double reduced = std::max(lr * factor_, min_lr_[std::min(i, min_lr_.size() - 1)]);
    if (lr - reduced > eps_) groups[i].options().set_lr(reduced);
  }
}

void ReduceLROnPlateau::save(serialize::OutputArchive& archive) const {
  archive.write("best", IValue(best_));
  archive.write("num_bad_epochs", IValue(bad_epochs_));
  archive.write("cooldown_counter", IValue(cooldown_left_));
  archive.write("last_epoch", IValue(last_epoch_));
}

void ReduceLROnPlateau::load(serialize::InputArchive& archive) {
  IValue best, bad_epochs, cooldown_left, last_epoch;
  archive.read("best", best);
  archive.read("num_bad_epochs", bad_epochs);
  archive.read("cooldown_counter", cooldown_left);
  archive.read("last_epoch", last_epoch);
  const double best_metric = best.toDouble();
  const int64_t bad = bad_epochs.toInt(), cooldown = cooldown_left.toInt(),
                epoch = last_epoch.toInt();
  best_ = best_metric;
  bad_epochs_ = bad;
  cooldown_left_ = cooldown;
  last_epoch_ = epoch;
}

}  // namespace taper::optim
