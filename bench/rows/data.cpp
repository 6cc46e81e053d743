// An epoch of 10,000 pictures through the loader: no files, so that the loader itself counts.

#include <optional>

#include "bench.h"

using namespace bench;
namespace data = torch::data;

static constexpr const char* kSection = "Data";

namespace {
struct Pictures : data::datasets::Dataset<Pictures> {
  Tensor images = values({10'000, 1, 28, 28}), labels = whole_numbers({10'000}, 10);

  data::Example<> get(size_t index) override {
    return {images.select(0, int64_t(index)), labels.select(0, int64_t(index))};
  }
  std::optional<size_t> size() const override { return 10'000; }
};

void epoch(Row& row, size_t workers) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      Pictures().map(data::transforms::Stack<>()),
      data::DataLoaderOptions().batch_size(256).workers(workers));
  Tensor last;
  row.time(
      [&] {
        for (const auto& batch : *loader) last = batch.data;
      },
      10'000);
  row.result(last);
}
}  // namespace

BENCH(kSection, kOther, "epoch of 10,000 pictures, batch 256, no workers") { epoch(row, 0); }
BENCH(kSection, kOther, "epoch of 10,000 pictures, batch 256, 2 workers") { epoch(row, 2); }
