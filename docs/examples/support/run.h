#pragma once

#include <taper/taper.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "curves.h"
#include "options.h"
#include "progress.h"

namespace examples {

class Run;

/// The first `count` samples; all where count is 0.
template <class D>
taper::data::Subset<D> first(D dataset, int64_t count) {
  const size_t all = dataset.size().value_or(0);
  std::vector<size_t> chosen(count > 0 ? std::min(all, static_cast<size_t>(count)) : all);
  std::iota(chosen.begin(), chosen.end(), size_t{0});
  return {std::move(dataset), std::move(chosen)};
}

/// A loader's batches as a range; ends early in a dry run, and has none when the epoch's training
/// was over before the run was resumed.
template <class Loader>
class Batches {
 public:
  using Inner = decltype(std::declval<Loader&>().begin());
  struct End {};
  struct Iterator {
    Run& run;
    std::optional<Inner> inner;
    Inner last;
    int64_t taken = 0;

    decltype(auto) operator*() { return **inner; }
    Iterator& operator++() {
      ++taken;
      if (!at_limit()) ++*inner;
      return *this;
    }
    bool operator!=(End) const { return inner && !at_limit() && *inner != last; }
    bool at_limit() const;
  };

  Batches(Run& run, Loader& loader) : run_(run), loader_(loader) {}
  Iterator begin();
  End end() { return {}; }

 private:
  Run& run_;
  Loader& loader_;
};

/// One training run: its progress on the screen, its files under --out, its checkpoints, and
/// Ctrl-C.
///
///     history.csv, curves.svg             rewritten whole after each epoch
///     checkpoint/                         what --resume needs; replaced whole after each epoch
///                                         and every 30 s
///     model.safetensors, summary.json     at the end
///
/// A dry run writes them to the folder dry-run in --out, so that it replaces no results.
class Run {
 public:
  Run(const Options& options, const std::string& dataset, taper::Device device);
  ~Run();

  /// Reads the checkpoint of an earlier run when --resume was given, else begins anew.
  template <class Loader>
  void restore_or_start(taper::nn::Module& model, taper::optim::Optimizer& optimizer,
                        Loader& loader) {
    model_ = &model;
    optimizer_ = &optimizer;
    loader_state_ = [&loader] { return loader.state_dict(); };
    samples_ = static_cast<int64_t>(loader.dataset().size().value_or(0));
    std::vector<size_t> first(static_cast<size_t>(std::min<int64_t>(samples_, 64)));
    std::iota(first.begin(), first.end(), size_t{0});
    first_labels_ = loader.dataset().get_batch(first).target;
    start([&loader](const taper::data::LoaderState& state) { loader.load_state_dict(state); });
  }

  /// The epoch to go on with, from 1.
  int64_t epoch() const { return epoch_; }

  /// The loader's batches, with the bar in step. After --resume the first epoch gives what remained
  /// of it.
  template <class Loader>
  Batches<Loader> training(Loader& loader, int64_t epoch) {
    begin_phase(true, epoch, static_cast<int64_t>(loader.dataset().size().value_or(0)));
    return {*this, loader};
  }
  template <class Loader>
  Batches<Loader> validation(Loader& loader, int64_t epoch) {
    begin_phase(false, epoch, static_cast<int64_t>(loader.dataset().size().value_or(0)));
    return {*this, loader};
  }

  bool is_dry() const { return options_.dry_run; }
  /// The epoch's training was over when the checkpoint was made.
  bool skips_training() const { return in_training_ && resumed_in_validation_; }

  /// Adds a batch to the running sums: its mean loss, how many were right, how many there were.
  void count(double loss, int64_t correct, int64_t samples);
  /// True once Ctrl-C was pressed; saves a checkpoint when the last one is 30 s old.
  bool should_stop();
  /// Saves, says how to go on, and gives the exit status.
  int interrupted();
  void finish_epoch();
  void finish();

 private:
  struct Sums {
    double loss = 0;
    int64_t correct = 0, samples = 0;
    double mean_loss() const { return samples ? loss / static_cast<double>(samples) : 0; }
    double accuracy() const {
      return samples ? static_cast<double>(correct) / static_cast<double>(samples) : 0;
    }
  };
  using Clock = std::chrono::steady_clock;
  // Of the default generators: the CPU's, and where the run is on CUDA, the device's.
  struct RandomState {
    std::vector<uint8_t> cpu, cuda;
  };

  void start(const std::function<void(const taper::data::LoaderState&)>& load_loader);
  void begin_phase(bool training, int64_t epoch, int64_t total);
  double seconds_in_epoch() const;
  RandomState random_state() const;
  void save_checkpoint();
  void load_checkpoint(const std::function<void(const taper::data::LoaderState&)>& load_loader);
  void check_settings(taper::serialize::InputArchive& archive) const;
  void settle_learning_rate();
  void write_history() const;
  void write_summary() const;
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  Options options_;
  std::string folder_;
  std::string dataset_;
  int64_t samples_ = 0;
  taper::Tensor first_labels_;  // by which a checkpoint knows the data again, wherever it lies
  taper::Device device_;
  Progress progress_;
  taper::nn::Module* model_ = nullptr;
  taper::optim::Optimizer* optimizer_ = nullptr;
  std::function<taper::data::LoaderState()> loader_state_;

  int64_t epoch_ = 1;
  bool in_training_ = true;
  bool resumed_in_validation_ = false;
  RandomState validation_random_;  // when the validation began
  int64_t total_ = 0;
  Sums train_, test_;
  std::vector<EpochRow> history_;
  std::vector<std::string> changes_;  // what --resume does otherwise than the run before it
  double earlier_seconds_ = 0;        // of this epoch, before --resume
  double trained_seconds_ = 0;
  int64_t trained_samples_ = 0;
  Clock::time_point epoch_start_, phase_start_, saved_at_;
};

template <class Loader>
bool Batches<Loader>::Iterator::at_limit() const {
  return run.is_dry() && taken >= 3;
}

template <class Loader>
typename Batches<Loader>::Iterator Batches<Loader>::begin() {
  if (run_.skips_training()) return {run_, std::nullopt, loader_.end()};
  return {run_, loader_.begin(), loader_.end()};
}

}  // namespace examples
