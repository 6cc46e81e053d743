#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "taper/data/dataloader/core.h"
#include "taper/data/example.h"
#include "taper/data/iterator.h"

namespace taper::data {

namespace detail {

inline void pin(Tensor& tensor) { tensor = tensor.pin_memory(); }
template <class Data, class Target>
void pin(Example<Data, Target>& example) {
  if constexpr (std::is_same_v<Data, Tensor>) pin(example.data);
  if constexpr (std::is_same_v<Target, Tensor>) pin(example.target);
}
template <class T>
void pin(std::vector<T>& examples) {
  for (T& example : examples) pin(example);
}
template <class T>
void pin(T&) {}  // of what Taper does not know the inside

}  // namespace detail

/// A loader of batches: `for (auto& batch : *loader)`. Derived classes say what comes next.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase : public detail::LoaderCore {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  /// Starts a new epoch; one under way is dropped.
  Iterator<Batch> begin() {
    this->begin_epoch();
    return Iterator<Batch>([this] { return std::static_pointer_cast<Batch>(this->next_batch()); });
  }
  Iterator<Batch> end() { return {}; }

  Dataset& dataset() noexcept { return *dataset_; }

 protected:
  DataLoaderBase(Dataset dataset, const FullDataLoaderOptions& options,
                 std::optional<Generator> generator = std::nullopt)
      : LoaderCore(options, std::move(generator)),
        dataset_(std::make_unique<Dataset>(std::move(dataset))) {}

  virtual std::optional<BatchRequest> get_batch_request() = 0;

 private:
  std::optional<Job> next_job() final {
    std::optional<BatchRequest> request = get_batch_request();
    if (!request) return std::nullopt;
    Job job;
    if constexpr (std::is_same_v<BatchRequest, std::vector<size_t>>) job.samples = *request;
    job.run = [request = std::move(*request),
               pinned = options().pin_memory](void* dataset) -> BatchPointer {
      auto batch = std::make_shared<Batch>(static_cast<Dataset*>(dataset)->get_batch(request));
      if (pinned) detail::pin(*batch);
      return batch;
    };
    return job;
  }
  void* main_dataset() final { return dataset_.get(); }
  // Every worker has its own copy, so that a dataset needs no lock.
  BatchPointer copy_dataset() final {
    if constexpr (std::is_copy_constructible_v<Dataset>) {
      return std::make_shared<Dataset>(*dataset_);
    } else {
      taper::detail::fail<ValueError>(
          "DataLoader: this dataset can't be copied, and each worker needs a copy of its own; use "
          "0 workers");
    }
  }

  std::unique_ptr<Dataset> dataset_;
};

}  // namespace taper::data
