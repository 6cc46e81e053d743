#include "taper/data/dataloader/core.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <utility>

#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/data/dataloader/prefetcher.h"
#include "taper/data/sample_random.h"
#include "taper/data/worker_exception.h"

namespace taper::data {

namespace {

constexpr int64_t kStateVersion = 1;

Tensor to_tensor(const std::vector<uint8_t>& bytes) {
  Tensor out = empty({static_cast<int64_t>(bytes.size())}, TensorOptions(kByte).device(kCPU));
  if (!bytes.empty()) std::memcpy(out.data_ptr(), bytes.data(), bytes.size());
  return out;
}

const Tensor* find(const std::map<std::string, Tensor>& tensors, const char* name,
                   ScalarType dtype) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) return nullptr;
  const Tensor& tensor = found->second;
  TAPER_CHECK_VALUE(tensor.scalar_type() == dtype && tensor.dim() == 1 && tensor.is_contiguous(),
                    "LoaderState: '", name, "' should be one row of ", dtype_name(dtype),
                    ", but is ", dtype_name(tensor.scalar_type()), " ", tensor.sizes());
  return &tensor;
}

std::vector<uint8_t> to_bytes(const Tensor* tensor) {
  if (!tensor) return {};
  const uint8_t* data = tensor->data_ptr<uint8_t>();
  return std::vector<uint8_t>(data, data + tensor->numel());
}

}  // namespace

std::map<std::string, Tensor> LoaderState::to_tensors() const {
  const int64_t numbers[] = {kStateVersion, in_epoch, epoch,        batch,
                             batch_size,    seed,     sampler.index};
  Tensor position =
      empty({static_cast<int64_t>(std::size(numbers))}, TensorOptions(kLong).device(kCPU));
  std::memcpy(position.data_ptr(), numbers, sizeof numbers);
  std::map<std::string, Tensor> tensors{{"position", position}};
  if (sampler.order.defined()) tensors["order"] = sampler.order;
  if (!sampler.generator_state.empty()) {
    tensors["sampler_generator"] = to_tensor(sampler.generator_state);
  }
  if (!generator_state.empty()) tensors["generator"] = to_tensor(generator_state);
  return tensors;
}

LoaderState LoaderState::from_tensors(const std::map<std::string, Tensor>& tensors) {
  const Tensor* position = find(tensors, "position", kLong);
  TAPER_CHECK_VALUE(
      position && position->numel() == 7 && position->data_ptr<int64_t>()[0] == kStateVersion,
      "LoaderState: there is no 'position' of a known kind among the tensors");
  const int64_t* numbers = position->data_ptr<int64_t>();
  LoaderState state;
  state.in_epoch = numbers[1] != 0;
  state.epoch = numbers[2];
  state.batch = numbers[3];
  state.batch_size = numbers[4];
  state.seed = numbers[5];
  state.sampler.index = numbers[6];
  if (const Tensor* order = find(tensors, "order", kLong)) state.sampler.order = *order;
  state.sampler.generator_state = to_bytes(find(tensors, "sampler_generator", kByte));
  state.generator_state = to_bytes(find(tensors, "generator", kByte));
  return state;
}

namespace detail {

using Clock = std::chrono::steady_clock;

struct LoaderCore::Impl {
  Impl(const FullDataLoaderOptions& options, std::optional<Generator> generator)
      : options(options), generator(std::move(generator)) {}

  FullDataLoaderOptions options;
  std::optional<Generator> generator;
  std::unique_ptr<Prefetcher> prefetcher;
  LoaderStats stats;

  bool in_epoch = false;
  int64_t epoch = 0;
  int64_t taken = 0;      // batches handed out
  int64_t requested = 0;  // batches asked of the sampler
  int64_t seed = 0;
  bool exhausted = false;
  std::optional<samplers::SamplerState> sampler_at_start;
  std::optional<LoaderState> pending;  // from load_state_dict
};

LoaderCore::LoaderCore(const FullDataLoaderOptions& options, std::optional<Generator> generator)
    : impl_(std::make_unique<Impl>(options, std::move(generator))) {}

LoaderCore::~LoaderCore() = default;

const FullDataLoaderOptions& LoaderCore::options() const noexcept { return impl_->options; }
LoaderStats LoaderCore::stats() const { return impl_->stats; }
void LoaderCore::reset_stats() { impl_->stats = {}; }
void LoaderCore::join() { impl_->prefetcher.reset(); }

LoaderState LoaderCore::state_dict() const {
  if (impl_->pending) return *impl_->pending;
  LoaderState state;
  state.in_epoch = impl_->in_epoch;
  state.epoch = impl_->epoch;
  state.batch = impl_->taken;
  state.batch_size = static_cast<int64_t>(impl_->options.batch_size);
  state.seed = impl_->seed;
  if (impl_->in_epoch && impl_->sampler_at_start) state.sampler = *impl_->sampler_at_start;
  if (impl_->generator) state.generator_state = impl_->generator->state_bytes();
  return state;
}

void LoaderCore::load_state_dict(const LoaderState& state) {
  TAPER_CHECK_VALUE(state.epoch >= 0 && state.batch >= 0 && (!state.in_epoch || state.epoch > 0),
                    "DataLoader: the saved state is damaged: epoch ", state.epoch, ", batch ",
                    state.batch);
  TAPER_CHECK_VALUE(state.batch_size == static_cast<int64_t>(impl_->options.batch_size),
                    "DataLoader: the saved position counts batches of ", state.batch_size,
                    ", but this loader's batch_size is ", impl_->options.batch_size);
  TAPER_CHECK_VALUE(impl_->generator.has_value() == !state.generator_state.empty(),
                    "DataLoader: the saved state was made ", impl_->generator ? "without" : "with",
                    " a generator option, and this loader is ",
                    impl_->generator ? "with one" : "without");
  if (state.in_epoch) load_sampler_state(state.sampler);
  if (impl_->prefetcher) impl_->prefetcher->drop();
  impl_->in_epoch = false;
  impl_->pending = state;
}

void LoaderCore::begin_epoch() {
  Impl& self = *impl_;
  if (self.prefetcher) self.prefetcher->drop();
  const std::optional<LoaderState> resumed = std::exchange(self.pending, std::nullopt);
  if (resumed) {
    self.epoch = resumed->epoch;
    self.seed = resumed->seed;
    if (self.generator) self.generator->set_state_bytes(resumed->generator_state);
  }
  self.taken = self.requested = 0;
  self.exhausted = false;
  if (resumed && resumed->in_epoch) {
    load_sampler_state(resumed->sampler);
    self.sampler_at_start = resumed->sampler;
    // Run forward over what was taken; nothing is loaded.
    while (self.taken < resumed->batch && take_job()) ++self.taken;
  } else {
    ++self.epoch;
    // As PyTorch: the seed comes before the order, and once only where the workers stay.
    if (!self.options.persistent_workers || self.epoch == 1) self.seed = draw_epoch_seed();
    reset_sampler();
    self.sampler_at_start = sampler_state();
  }
  self.in_epoch = true;
  if (self.options.workers > 0) {
    if (!self.prefetcher) start_workers();
    prefetch();
  }
}

void LoaderCore::start_workers() {
  std::vector<std::shared_ptr<void>> datasets(impl_->options.workers);
  for (auto& dataset : datasets) dataset = copy_dataset();
  impl_->prefetcher = std::make_unique<Prefetcher>(
      std::move(datasets), impl_->options.enforce_ordering, impl_->options.timeout);
}

std::optional<LoadJob> LoaderCore::take_job() {
  if (impl_->exhausted) return std::nullopt;
  std::optional<Job> job = next_job();
  if (!job) {
    impl_->exhausted = true;
    return std::nullopt;
  }
  return LoadJob{std::move(job->run), std::move(job->samples), static_cast<uint64_t>(impl_->seed),
                 static_cast<uint64_t>(impl_->epoch), static_cast<uint64_t>(impl_->requested++)};
}

void LoaderCore::prefetch() {
  while (impl_->prefetcher->in_flight() < impl_->options.max_jobs) {
    std::optional<LoadJob> job = take_job();
    if (!job) break;
    impl_->prefetcher->push(std::move(*job));
  }
}

LoaderCore::BatchPointer LoaderCore::load() {
  Impl& self = *impl_;
  if (self.options.workers == 0) {
    const std::optional<LoadJob> job = take_job();
    if (!job) return nullptr;
    ++self.taken;
    const LoadScope scope(job->seed, job->epoch, job->batch, nullptr);
    return job->run(main_dataset());
  }
  if (!self.prefetcher || self.prefetcher->in_flight() == 0) return nullptr;
  LoadResult result;
  try {
    result = self.prefetcher->pop();
  } catch (const TimeoutError&) {
    self.in_epoch = false;
    self.prefetcher.reset();  // leaves the stuck worker behind
    throw;
  }
  ++self.taken;
  prefetch();
  if (result.exception) {
    throw WorkerException("Caught an exception in DataLoader " + result.where, result.exception);
  }
  return std::move(result.batch);
}

LoaderCore::BatchPointer LoaderCore::next_batch() {
  Impl& self = *impl_;
  if (!self.in_epoch) return nullptr;
  const Clock::time_point start = Clock::now();
  BatchPointer batch = load();
  const double waited = std::chrono::duration<double>(Clock::now() - start).count();
  if (!batch) {
    self.in_epoch = false;
    if (!self.options.persistent_workers) self.prefetcher.reset();
    return nullptr;
  }
  ++self.stats.batches;
  self.stats.wait_seconds += waited;
  self.stats.longest_wait_seconds = std::max(self.stats.longest_wait_seconds, waited);
  return batch;
}

}  // namespace detail

}  // namespace taper::data
