#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "taper/optim/optimizer.h"

namespace taper::optim {

/// Multiplies the learning rates by `factor` when a metric has not improved for more than
/// `patience` epochs, as torch.optim.lr_scheduler.ReduceLROnPlateau. `min_lr` is one number for all
/// groups or one for each.
class TAPER_API ReduceLROnPlateau {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };

  explicit ReduceLROnPlateau(Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1,
                             int64_t patience = 10, double threshold = 1e-4,
                             ThresholdMode threshold_mode = rel, int64_t cooldown = 0,
                             std::vector<double> min_lr = {}, double eps = 1e-8);

  void step(double metric);

  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  bool is_better(double metric) const;
  void reduce_lrs();

  Optimizer& optimizer_;
  SchedulerMode mode_;
  double factor_;
  int64_t patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int64_t cooldown_;
  std::vector<double> min_lr_;
  double eps_;

  double best_;
  int64_t bad_epochs_ = 0;
  int64_t cooldown_left_ = 0;
  int64_t last_epoch_ = 0;
};

using ReduceLROnPlateauScheduler = ReduceLROnPlateau;  // LibTorch's name

}  // namespace taper::optim
