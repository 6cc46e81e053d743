#include <algorithm>

#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/data/detail/random.h"
#include "taper/data/samplers/random.h"
#include "taper/data/samplers/sequential.h"

namespace taper::data::samplers {

namespace {

void check_position(int64_t index, size_t size) {
  TAPER_CHECK_VALUE(index >= 0 && static_cast<size_t>(index) <= size,
                    "sampler: the saved position ", index, " is outside the ", size,
                    " samples of this dataset");
}

}  // namespace

void SequentialSampler::reset(std::optional<size_t> new_size) {
  if (new_size) size_ = *new_size;
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  const size_t count = std::min(batch_size, size_ - index_);
  if (count == 0) return std::nullopt;
  std::vector<size_t> batch(count);
  for (size_t& sample : batch) sample = index_++;
  return batch;
}

std::optional<SamplerState> SequentialSampler::state() const {
  SamplerState state;
  state.index = static_cast<int64_t>(index_);
  return state;
}

void SequentialSampler::load_state(const SamplerState& state) {
  check_position(state.index, size_);
  index_ = static_cast<size_t>(state.index);
}

namespace detail {

void OrderedSampler::start(Tensor order, std::optional<size_t> new_size) {
  if (new_size) size_ = *new_size;
  order_ = std::move(order);
  index_ = 0;
}

std::optional<std::vector<size_t>> OrderedSampler::next(size_t batch_size) {
  const size_t count = order_.defined() ? std::min(batch_size, size_ - index_) : 0;
  if (count == 0) return std::nullopt;
  const int64_t* order = order_.data_ptr<int64_t>() + index_;
  index_ += count;
  return std::vector<size_t>(order, order + count);
}

std::optional<SamplerState> OrderedSampler::state() const {
  SamplerState state;
  state.index = static_cast<int64_t>(index_);
  state.order = order_;
  return state;
}

void OrderedSampler::load_state(const SamplerState& state) {
  TAPER_CHECK_VALUE(
      state.order.defined() && state.order.scalar_type() == kLong && state.order.dim() == 1,
      "sampler: the saved state holds no order of samples");
  TAPER_CHECK_VALUE(static_cast<size_t>(state.order.numel()) == size_,
                    "sampler: the saved state orders ", state.order.numel(),
                    " samples, but this dataset has ", size_);
  check_position(state.index, size_);
  const Tensor order = state.order.contiguous().clone();
  for (size_t i = 0; i < size_; ++i) {
    const int64_t sample = order.data_ptr<int64_t>()[i];
    TAPER_CHECK_VALUE(sample >= 0 && static_cast<size_t>(sample) < size_,
                      "sampler: the saved state names sample ", sample, ", but this dataset has ",
                      size_);
  }
  order_ = order;
  index_ = static_cast<size_t>(state.index);
}

}  // namespace detail

namespace {

// Orders are read by the host.
Tensor random_order(int64_t size, std::optional<Generator> generator) {
  return randperm(size, std::move(generator), TensorOptions(kLong).device(kCPU));
}

}  // namespace

RandomSampler::RandomSampler(int64_t size, Dtype) : OrderedSampler(static_cast<size_t>(size)) {
  TAPER_CHECK_VALUE(size >= 0, "RandomSampler: expected a size, but got ", size);
  start(random_order(size, std::nullopt), std::nullopt);
}

void RandomSampler::reset(std::optional<size_t> new_size) {
  start(random_order(static_cast<int64_t>(new_size.value_or(size())), std::nullopt), new_size);
}

ShuffleSampler::ShuffleSampler(size_t size, std::optional<Generator> generator)
    : OrderedSampler(size), generator_(std::move(generator)) {}

void ShuffleSampler::reset(std::optional<size_t> new_size) {
  const auto n = static_cast<int64_t>(new_size.value_or(size()));
  if (generator_) {
    start(random_order(n, generator_), new_size);
    after_shuffle_ = generator_->state_bytes();
  } else {
    const Generator own(static_cast<uint64_t>(data::detail::draw_seed(std::nullopt)));
    start(random_order(n, own), new_size);
  }
  ended_ = false;
}

std::optional<std::vector<size_t>> ShuffleSampler::next(size_t batch_size) {
  auto batch = OrderedSampler::next(batch_size);
  // PyTorch's sampler, when it has run out, draws another order and uses none of it. A generator of
  // the user's must advance as far.
  if ((!batch || batch->size() < batch_size) && generator_ && !ended_) {
    (void)random_order(static_cast<int64_t>(size()), generator_);
    ended_ = true;
  }
  return batch;
}

std::optional<SamplerState> ShuffleSampler::state() const {
  auto state = OrderedSampler::state();
  if (generator_) state->generator_state = after_shuffle_;
  return state;
}

void ShuffleSampler::load_state(const SamplerState& state) {
  OrderedSampler::load_state(state);
  TAPER_CHECK_VALUE(generator_.has_value() == !state.generator_state.empty(),
                    "sampler: the saved state was made ", generator_ ? "without" : "with",
                    " a generator of its own, and this sampler is ",
                    generator_ ? "with" : "without");
  if (generator_) {
    generator_->set_state_bytes(state.generator_state);
    after_shuffle_ = state.generator_state;
  }
  ended_ = false;
}

}  // namespace taper::data::samplers
