#include "taper/data/dataloader.h"

#include "taper/data/detail/random.h"

namespace taper::data::detail {

int64_t default_epoch_seed() { return static_cast<int64_t>(default_seed()); }

int64_t draw_base_seed(const std::optional<Generator>& generator) { return draw_seed(generator); }

std::shared_ptr<samplers::Sampler<>> default_sampler(std::optional<size_t> size,
                                                     const LoaderOptions& options) {
  TAPER_CHECK_VALUE(size.has_value(),
                    "DataLoader: expected a dataset that knows its size, or a sampler");
  if (!options.shuffle) return std::make_shared<samplers::SequentialSampler>(*size);
  TAPER_CHECK_VALUE(*size > 0, "DataLoader: there is nothing to shuffle, the dataset is empty");
  return std::make_shared<samplers::ShuffleSampler>(*size, options.generator);
}

size_t count_batches(std::optional<size_t> samples, const FullDataLoaderOptions& options) {
  TAPER_CHECK_VALUE(samples.has_value(), "DataLoader: the dataset does not know its size");
  const size_t whole = *samples / options.batch_size;
  return whole + (!options.drop_last && *samples % options.batch_size != 0);
}

}  // namespace taper::data::detail
