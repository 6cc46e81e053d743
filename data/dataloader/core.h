#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "taper/data/dataloader_options.h"
#include "taper/data/samplers/base.h"

namespace taper::data {

/// Where a loader stands, for a checkpoint. Taken inside the loop over an epoch, the batch in hand
/// counts as taken: after `load_state_dict` the next loop gives exactly the batches that remain.
/// The default generator is not part of it.
struct TAPER_API LoaderState {
  bool in_epoch = false;  ///< an epoch has begun and not ended
  int64_t epoch = 0;      ///< epochs begun so far
  int64_t batch = 0;      ///< batches of this epoch that were taken
  int64_t batch_size = 0;
  int64_t seed = 0;                      ///< of this epoch's random transforms
  samplers::SamplerState sampler;        ///< at the beginning of the epoch
  std::vector<uint8_t> generator_state;  ///< of the generator given as an option, if any

  /// As tensors by name, for a safetensors file; and back.
  std::map<std::string, Tensor> to_tensors() const;
  static LoaderState from_tensors(const std::map<std::string, Tensor>& tensors);
};

/// How long the program waited for its data.
struct LoaderStats {
  int64_t batches = 0;
  double wait_seconds = 0;          ///< in all
  double longest_wait_seconds = 0;  ///< for one batch
};

namespace detail {

struct LoadJob;

/// What all loaders have in common: epochs, workers, waiting, position. Batches are pointers here.
class TAPER_API LoaderCore {
 public:
  virtual ~LoaderCore();
  LoaderCore(const LoaderCore&) = delete;
  LoaderCore& operator=(const LoaderCore&) = delete;

  const FullDataLoaderOptions& options() const noexcept;
  LoaderStats stats() const;
  void reset_stats();
  LoaderState state_dict() const;
  /// Takes effect when the next loop begins. Throws unless the state fits this loader.
  void load_state_dict(const LoaderState& state);
  /// Stops the workers; the next loop starts new ones.
  void join();

 protected:
  using BatchPointer = std::shared_ptr<void>;

  struct Job {
    std::function<BatchPointer(void* dataset)> run;
    std::vector<size_t> samples;
  };

  LoaderCore(const FullDataLoaderOptions& options, std::optional<Generator> generator);

  void begin_epoch();
  /// The next batch, or null once the epoch is over.
  BatchPointer next_batch();

  virtual std::optional<Job> next_job() = 0;
  virtual void reset_sampler() = 0;
  virtual std::optional<samplers::SamplerState> sampler_state() const = 0;
  virtual void load_sampler_state(const samplers::SamplerState& state) = 0;
  /// The seed of an epoch's random transforms.
  virtual int64_t draw_epoch_seed() = 0;
  virtual void* main_dataset() = 0;
  virtual std::shared_ptr<void> copy_dataset() = 0;

 private:
  struct Impl;

  std::optional<LoadJob> take_job();
  BatchPointer load();
  void prefetch();
  void start_workers();

  std::unique_ptr<Impl> impl_;
};

}  // namespace detail

}  // namespace taper::data
