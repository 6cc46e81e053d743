#pragma once

#include "taper/data/samplers/base.h"

namespace taper::data::samplers {

/// 0, 1, 2, ...
class TAPER_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  std::optional<SamplerState> state() const override;
  void load_state(const SamplerState& state) override;

  size_t size() const noexcept { return size_; }
  size_t index() const noexcept { return index_; }

 private:
  size_t size_;
  size_t index_ = 0;
};

}  // namespace taper::data::samplers
