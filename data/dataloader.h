#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "taper/data/dataloader/stateless.h"
#include "taper/data/datasets/map.h"
#include "taper/data/samplers/random.h"
#include "taper/data/samplers/sequential.h"
#include "taper/data/transforms/stack.h"
#include "taper/data/worker_exception.h"

namespace taper::data {

/// LibTorch's loader with a sampler of one's own. Batches are what the dataset's `get_batch` gives.
template <class Dataset, class Sampler>
std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(Dataset dataset,
                                                                        Sampler sampler,
                                                                        DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset),
                                                                 std::move(sampler), options);
}

/// LibTorch's loader: `make_data_loader<samplers::SequentialSampler>(std::move(dataset), options)`.
template <class Sampler = samplers::RandomSampler, class Dataset>
std::enable_if_t<std::is_constructible_v<Sampler, size_t>,
                 std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>>
make_data_loader(Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<size_t> size = dataset.size();
  TAPER_CHECK_VALUE(size.has_value(),
                    "Expected the dataset to be sized in order to construct the Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}

namespace detail {

/// A sampler of any class, held by a pointer.
class AnySampler {
 public:
  using BatchRequestType = std::vector<size_t>;

  AnySampler(std::shared_ptr<samplers::Sampler<>> sampler) : sampler_(std::move(sampler)) {}
  void reset(std::optional<size_t> size) { sampler_->reset(size); }
  std::optional<BatchRequestType> next(size_t batch_size) { return sampler_->next(batch_size); }
  std::optional<samplers::SamplerState> state() const { return sampler_->state(); }
  void load_state(const samplers::SamplerState& state) { sampler_->load_state(state); }
  samplers::Sampler<>& operator*() const { return *sampler_; }

 private:
  std::shared_ptr<samplers::Sampler<>> sampler_;
};

TAPER_API std::shared_ptr<samplers::Sampler<>> default_sampler(std::optional<size_t> size,
                                                               const LoaderOptions& options);
TAPER_API int64_t draw_base_seed(const std::optional<Generator>& generator);
TAPER_API size_t count_batches(std::optional<size_t> samples, const FullDataLoaderOptions& options);

// Samples that can be collated are; everything else passes as it comes.
template <class D>
struct Collated {
  using type = D;
};
template <class D>
concept Collatable = requires(D& dataset) {
  typename D::BatchType::value_type;
  typename transforms::Stack<typename D::BatchType::value_type>::OutputBatchType;
};
template <Collatable D>
struct Collated<D> {
  using type = datasets::MapDataset<D, transforms::Stack<typename D::BatchType::value_type>>;
};
template <class D>
using CollatedDataset = typename Collated<D>::type;

template <class D>
CollatedDataset<D> collate(D dataset) {
  if constexpr (Collatable<D>) {
    return {std::move(dataset), {}};
  } else {
    return dataset;
  }
}

}  // namespace detail

/// Python's loader. Batches are collated (`Stack`), and with the same seed come in PyTorch's order:
///
///     data::DataLoader loader(dataset, {.batch_size = 256, .shuffle = true, .num_workers = 2});
///     for (auto& [images, labels] : loader) ...
///
/// Workers are threads with a copy of the dataset each. Neither the order nor the samples depend on
/// their number; what they throw is thrown, as WorkerException, where the batch is taken.
template <class D>
class DataLoader : public StatelessDataLoader<detail::CollatedDataset<D>, detail::AnySampler> {
  using Base = StatelessDataLoader<detail::CollatedDataset<D>, detail::AnySampler>;

 public:
  DataLoader(D dataset, const LoaderOptions& options = {})
      : DataLoader(detail::default_sampler(dataset.size(), options), std::move(dataset), options) {}

  /// With a sampler of one's own, which `shuffle` must not contradict.
  template <class SamplerType>
    requires std::is_base_of_v<samplers::Sampler<>, SamplerType>
  DataLoader(D dataset, SamplerType sampler, const LoaderOptions& options = {})
      : DataLoader(std::make_shared<SamplerType>(std::move(sampler)), std::move(dataset), options) {
    check_no_shuffle(options);
  }
  template <class SamplerType>
    requires std::is_base_of_v<samplers::Sampler<>, SamplerType>
  DataLoader(D dataset, std::shared_ptr<SamplerType> sampler, const LoaderOptions& options = {})
      : DataLoader(std::shared_ptr<samplers::Sampler<>>(std::move(sampler)), std::move(dataset),
                   options) {
    check_no_shuffle(options);
  }

  /// Batches in an epoch: `len(loader)`.
  size_t size() const { return detail::count_batches(samples_, this->options()); }

 private:
  // The dataset by reference: the callers still ask it for its size.
  DataLoader(std::shared_ptr<samplers::Sampler<>> sampler, D&& dataset,
             const LoaderOptions& options)
      : Base(detail::collate(std::move(dataset)), std::move(sampler),
             FullDataLoaderOptions(options), options.generator),
        generator_(options.generator) {
    samples_ = this->dataset().size();
  }

  static void check_no_shuffle(const LoaderOptions& options) {
    TAPER_CHECK_VALUE(!options.shuffle,
                      "DataLoader: sampler option is mutually exclusive with shuffle");
  }
  int64_t draw_epoch_seed() final { return detail::draw_base_seed(generator_); }

  std::optional<Generator> generator_;
  std::optional<size_t> samples_;
};

}  // namespace taper::data
