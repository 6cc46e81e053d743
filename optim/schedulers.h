#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "taper/optim/optimizer.h"

// Learning rates that change as training goes on, by the rules of torch.optim.lr_scheduler. A
// scheduler takes its first step when it is made; after that the program calls step() once per
// epoch, after the optimizer's. Rates follow the recursive ("chainable") forms, so that several
// schedulers may act on one optimizer, and a rate set by hand is carried on from.

namespace taper::optim {

/// The base. Keeps a reference to the optimizer, which has to outlive it.
class TAPER_API LRScheduler {
 public:
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;
  virtual ~LRScheduler();

  /// Sets the learning rates of the next epoch.
  void step();
  /// Python's last_epoch: the number of calls of step().
  int64_t last_epoch() const { return step_count_; }
  std::vector<double> get_last_lr() const { return get_current_lrs(); }

  /// Where it is, and the rates it started from. What it was made with is the program's to give,
  /// and the present rates are the optimizer's to keep: save both.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  explicit LRScheduler(Optimizer& optimizer);

  /// The rates of all groups for epoch `step_count_`.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  const std::vector<double>& base_lrs() const { return base_lrs_; }
  /// Sets what get_lrs() says now; for constructors of rules that change the very first rate.
  void apply();

  int64_t step_count_ = 0;

 private:
  void set_lrs(const std::vector<double>& lrs);

  Optimizer& optimizer_;
  std::vector<double> base_lrs_;
};

/// Times `gamma` every `step_size` epochs.
class TAPER_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1);

 protected:
  std::vector<double> get_lrs() override;

 private:
  int64_t step_size_;
  double gamma_;
};

/// Times `gamma` at each epoch among `milestones`.
class TAPER_API MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 protected:
  std::vector<double> get_lrs() override;

 private:
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// Times `gamma` every epoch.
class TAPER_API ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 protected:
  std::vector<double> get_lrs() override;

 private:
  double gamma_;
};

/// Half a cosine from the initial rate to `eta_min` in `t_max` epochs, then back up (Loshchilov and
/// Hutter, arXiv 1608.03983, without restarts).
class TAPER_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min = 0);

 protected:
  std::vector<double> get_lrs() override;

 private:
  int64_t t_max_;
  double eta_min_;
};

/// The initial rate times lambda(epoch): one function for all groups, or one for each.
class TAPER_API LambdaLR : public LRScheduler {
 public:
  using Lambda = std::function<double(int64_t)>;
  LambdaLR(Optimizer& optimizer, Lambda lambda);
  LambdaLR(Optimizer& optimizer, std::vector<Lambda> lambdas);

 protected:
  std::vector<double> get_lrs() override;

 private:
  std::vector<Lambda> lambdas_;
};

/// A factor that goes in a straight line from `start_factor` to `end_factor` in `total_iters`
/// epochs: a warm-up.
class TAPER_API LinearLR : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    int64_t total_iters = 5);

 protected:
  std::vector<double> get_lrs() override;

 private:
  double start_factor_, end_factor_;
  int64_t total_iters_;
};

}  // namespace taper::optim
