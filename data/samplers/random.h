#pragma once

#include "taper/data/samplers/base.h"

namespace taper::data::samplers {

namespace detail {

/// An order of samples and a place in it.
class TAPER_API OrderedSampler : public Sampler<> {
 public:
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  std::optional<SamplerState> state() const override;
  void load_state(const SamplerState& state) override;

  size_t size() const noexcept { return size_; }
  size_t index() const noexcept { return index_; }

 protected:
  explicit OrderedSampler(size_t size) : size_(size) {}
  void start(Tensor order, std::optional<size_t> new_size);

 private:
  size_t size_;
  size_t index_ = 0;
  Tensor order_;
};

}  // namespace detail

/// LibTorch's: a new `randperm` of the default generator when made and at each reset.
class TAPER_API RandomSampler : public detail::OrderedSampler {
 public:
  explicit RandomSampler(int64_t size, Dtype index_dtype = kInt64);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
};

/// The order of PyTorch's `DataLoader(shuffle=True)`: each epoch draws a seed from the default
/// generator and shuffles with a generator of that seed; a generator of the user's is used
/// directly.
class TAPER_API ShuffleSampler : public detail::OrderedSampler {
 public:
  explicit ShuffleSampler(size_t size, std::optional<Generator> generator = std::nullopt);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  std::optional<SamplerState> state() const override;
  void load_state(const SamplerState& state) override;

 private:
  std::optional<Generator> generator_;
  std::vector<uint8_t> after_shuffle_;  // the user's generator, once the order was drawn
  bool ended_ = true;
};

}  // namespace taper::data::samplers
