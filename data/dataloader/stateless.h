#pragma once

#include <utility>

#include "taper/data/dataloader/base.h"

namespace taper::data {

namespace detail {
/// The default generator's seed, without drawing from it.
TAPER_API int64_t default_epoch_seed();
}  // namespace detail

/// A loader that asks its sampler which samples come next, and its dataset for them.
template <class Dataset, class Sampler>
class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType,
                                                  typename Sampler::BatchRequestType> {
 public:
  using BatchRequestType = typename Sampler::BatchRequestType;

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : StatelessDataLoader(std::move(dataset), std::move(sampler), FullDataLoaderOptions(options),
                            std::nullopt) {}

  Sampler& sampler() noexcept { return sampler_; }

 protected:
  StatelessDataLoader(Dataset dataset, Sampler sampler, const FullDataLoaderOptions& options,
                      std::optional<Generator> generator)
      : DataLoaderBase<Dataset, typename Dataset::BatchType, BatchRequestType>(
            std::move(dataset), options, std::move(generator)),
        sampler_(std::move(sampler)) {}

  int64_t draw_epoch_seed() override { return detail::default_epoch_seed(); }

 private:
  std::optional<BatchRequestType> get_batch_request() final {
    auto request = sampler_.next(this->options().batch_size);
    if constexpr (requires { request->size(); }) {
      if (request && request->size() < this->options().batch_size && this->options().drop_last) {
        return std::nullopt;
      }
    }
    return request;
  }
  void reset_sampler() final { sampler_.reset(this->dataset().size()); }
  std::optional<samplers::SamplerState> sampler_state() const final {
    auto state = sampler_.state();
    if (state) state->index = 0;
    return state;
  }
  void load_sampler_state(const samplers::SamplerState& state) final {
    if (sampler_.state()) {
      sampler_.load_state(state);
    } else {
      reset_sampler();
    }
  }

  Sampler sampler_;
};

}  // namespace taper::data
