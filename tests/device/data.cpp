#include "device.h"
#include "support/tensors.h"
#include "taper/data/dataloader.h"
#include "taper/data/datasets/tensor.h"

// Data on its way to a device, and data sets that live there.

using namespace taper;

namespace {

struct Rows : data::datasets::Dataset<Rows> {
  data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {full({4}, i, kFloat), tensor(i)};
  }
  std::optional<size_t> size() const override { return 10; }
};

}  // namespace

TEST_CASE("a loader's pinned batches are copied to a device without waiting") {
  for (const int64_t workers : {0, 2}) {
    data::DataLoader loader(Rows(), {.batch_size = 4, .num_workers = workers, .pin_memory = true});
    std::vector<Tensor> seen;
    for (auto& [inputs, labels] : loader) {
      CHECK(inputs.is_pinned());
      CHECK(labels.is_pinned());
      const Tensor there = inputs.to(kCUDA, /*non_blocking=*/true);
      seen.push_back((there.sum(1) * labels.to(kCUDA, true)).cpu());
    }
    const Tensor i = arange(10, kFloat);
    CHECK(support::values(cat(seen)) == support::values(i * i * 4));
  }
}

TEST_CASE("a data set on a device gives batches there, in the CPU's order") {
  const Tensor rows = arange(30, kFloat).view({10, 3});
  const auto batches = [](const Tensor& whole) {
    manual_seed(3);
    data::DataLoader loader(data::datasets::TensorDataset(whole),
                            {.batch_size = 4, .shuffle = true});
    std::vector<Tensor> seen;
    for (auto& batch : loader) {
      CHECK(batch.data.device() == whole.device());
      seen.push_back(batch.data.cpu());
    }
    return support::values(cat(seen));
  };
  CHECK(batches(rows.to(kCUDA)) == batches(rows));
  CHECK(batches(rows.to(device_tests::last_device())) == batches(rows));
}
