#include "taper/data/dataloader.h"

#include "support.h"

using namespace data_test;
using data::DataLoader;
using data::DataLoaderOptions;
namespace samplers = data::samplers;
namespace transforms = data::transforms;

namespace {

// The lines of the golden file, "name: numbers".
std::map<std::string, std::vector<int64_t>> golden_orders() {
  std::map<std::string, std::vector<int64_t>> orders;
  std::ifstream file(golden("orders.txt"));
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    std::istringstream numbers(line.substr(colon + 1));
    std::vector<int64_t>& values = orders[line.substr(0, colon)];
    for (int64_t value; numbers >> value;) values.push_back(value);
  }
  REQUIRE(orders.size() > 20);
  return orders;
}

std::vector<int64_t> next_number(std::optional<Generator> generator = std::nullopt) {
  return ints(randint(1 << 30, {1}, generator));
}

}  // namespace

TEST_CASE("The order of batches is that of PyTorch's DataLoader for the same seed") {
  auto expected = golden_orders();
  const auto check = [&](const std::string& name, int epochs, data::LoaderOptions options) {
    CAPTURE(name);
    options.batch_size = 3;
    options.shuffle = true;
    manual_seed(7);
    DataLoader loader(Numbers(10), options);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      CHECK(order(loader) == expected.at(name + "." + std::to_string(epoch)));
    }
    CHECK(next_number() == expected.at(name + ".after"));
  };
  check("shuffle", 3, {});
  check("drop_last", 2, {.drop_last = true});
  Generator generator(3);
  check("generator", 3, {.generator = generator});
  CHECK(next_number(generator) == expected.at("generator.own"));
  check("workers", 2, {.num_workers = 2});
  check("persistent", 3, {.num_workers = 2, .persistent_workers = true});

  manual_seed(7);
  DataLoader sequential(Numbers(10), {.batch_size = 4});
  CHECK(order(sequential) == expected.at("sequential.0"));
  CHECK(next_number() == expected.at("sequential.after"));
}

TEST_CASE("random_split's parts are PyTorch's for the same seed") {
  auto expected = golden_orders();
  manual_seed(7);
  auto parts = data::random_split(Numbers(10), {7, 3});
  auto fractions = data::random_split(Numbers(10), {0.55, 0.45}, Generator(5));
  const auto indices = [](const auto& part) {
    return std::vector<int64_t>(part.indices().begin(), part.indices().end());
  };
  for (size_t i = 0; i < 2; ++i) {
    CHECK(indices(parts[i]) == expected.at("split." + std::to_string(i)));
    CHECK(indices(fractions[i]) == expected.at("fractions." + std::to_string(i)));
  }
}

TEST_CASE("Batches are full but the last, which drop_last leaves out") {
  DataLoader loader(Numbers(10), {.batch_size = 4});
  CHECK(loader.size() == 3);
  CHECK(batches(loader) == std::vector<std::vector<int64_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  DataLoader dropping(Numbers(10), {.batch_size = 4, .num_workers = 2, .drop_last = true});
  CHECK(dropping.size() == 2);
  CHECK(batches(dropping).size() == 2);
  DataLoader large(Numbers(3), {.batch_size = 1000});
  CHECK(batches(large) == std::vector<std::vector<int64_t>>{{0, 1, 2}});
  DataLoader none(Numbers(0), {.batch_size = 4, .num_workers = 1});
  CHECK(batches(none).empty());
}

TEST_CASE("A loader unpacks into images and labels") {
  const auto dataset = data::datasets::LabeledTensorDataset(counting({5, 2}, kFloat), arange(5));
  DataLoader loader(dataset, {.batch_size = 2});
  int64_t seen = 0;
  for (auto& [images, labels] : loader) {
    CHECK(images.size(0) == labels.size(0));
    CHECK(images.index({0, 1}).item<int64_t>() == 2 * seen + 1);
    seen += labels.size(0);
  }
  CHECK(seen == 5);
  DataLoader rows(data::datasets::TensorDataset(counting({5, 2}, kFloat)), {.batch_size = 3});
  for (auto& batch : rows) CHECK(batch.data.size(1) == 2);
}

TEST_CASE("LibTorch's make_data_loader") {
  using Example = data::Example<>;
  auto loader = data::make_data_loader<samplers::SequentialSampler>(
      Numbers(10).map(transforms::Stack<>()), DataLoaderOptions().batch_size(4).workers(2));
  CHECK(loader->options().batch_size == 4);
  CHECK(loader->options().max_jobs == 4);
  CHECK(order(*loader) == ints(arange(10)));
  CHECK(order(*loader) == ints(arange(10)));

  auto single = data::make_data_loader(Numbers(7), 3);
  std::set<int64_t> seen;
  for (std::vector<Example>& batch : *single) {
    for (const Example& example : batch) seen.insert(example.target.item<int64_t>());
  }
  CHECK(seen.size() == 7);

  auto own = data::make_data_loader(Numbers(10), samplers::SequentialSampler(10),
                                    DataLoaderOptions(5).drop_last(true).enforce_ordering(false));
  auto iterator = own->begin();
  CHECK(iterator->size() == 5);
  ++iterator;
  ++iterator;
  CHECK(iterator == own->end());
}

TEST_CASE("nothing is at the end of a loader") {
  auto loader = data::make_data_loader(Numbers(2), 2);
  auto walked = loader->begin();
  ++walked;
  for (auto end : {loader->end(), walked}) {
    const std::string past = "the DataLoader's past-the-end iterator is not allowed";
    CHECK(error_of([&] { *end; }) == "Dereferencing " + past);
    CHECK(error_of([&] { (void)end->size(); }) == "Dereferencing " + past);
    CHECK(error_of([&] { ++end; }) == "Incrementing " + past);
  }
}

TEST_CASE("RandomSampler of LibTorch draws when it is made and at each epoch") {
  manual_seed(2);
  (void)randperm(6);
  const auto first = ints(randperm(6)), second = ints(randperm(6));
  manual_seed(2);
  auto loader = data::make_data_loader(Numbers(6).map(transforms::Stack<>()), 4);
  CHECK(order(*loader) == first);
  CHECK(order(*loader) == second);
}

TEST_CASE("A sampler of one's own") {
  // Even samples only, and no saved state.
  struct Even : samplers::Sampler<> {
    void reset(std::optional<size_t>) override { at = 0; }
    std::optional<std::vector<size_t>> next(size_t batch_size) override {
      std::vector<size_t> batch;
      for (; batch.size() < batch_size && at < 10; at += 2) batch.push_back(at);
      if (batch.empty()) return std::nullopt;
      return batch;
    }
    size_t at = 0;
  };
  DataLoader loader(Numbers(10), Even(), {.batch_size = 2});
  CHECK(batches(loader) == std::vector<std::vector<int64_t>>{{0, 2}, {4, 6}, {8}});
  auto position = loader.begin();
  ++position;
  const data::LoaderState state = loader.state_dict();
  DataLoader resumed(Numbers(10), std::make_shared<Even>(), {.batch_size = 2});
  resumed.load_state_dict(state);
  CHECK(batches(resumed) == std::vector<std::vector<int64_t>>{{8}});
  CHECK_THROWS_AS(DataLoader(Numbers(10), Even(), {.shuffle = true}), ValueError);
}

TEST_CASE("Zero and negative options are refused") {
  const auto message = [](data::LoaderOptions options) {
    return error_of<ValueError>([&] { DataLoader(Numbers(4), options); });
  };
  CHECK_THAT(
      message({.batch_size = 0}),
      ContainsSubstring("batch_size should be a positive integer value, but got batch_size=0"));
  CHECK_THAT(message({.batch_size = -3}), ContainsSubstring("batch_size=-3"));
  CHECK_THAT(message({.num_workers = -1}), ContainsSubstring("num_workers=-1"));
  CHECK_THAT(message({.num_workers = 1 << 20}), ContainsSubstring("at most"));
  CHECK_THAT(message({.timeout = -1}), ContainsSubstring("timeout=-1"));
  CHECK_THAT(message({.prefetch_factor = 2}), ContainsSubstring("needs num_workers > 0"));
  CHECK_THAT(message({.num_workers = 1, .prefetch_factor = 0}),
             ContainsSubstring("prefetch_factor=0"));
  CHECK_THAT(message({.persistent_workers = true}), ContainsSubstring("needs num_workers > 0"));
  CHECK_THROWS_AS(DataLoader(Numbers(0), {.shuffle = true}), ValueError);
  CHECK_THROWS_AS(data::make_data_loader(Numbers(4), DataLoaderOptions(0)), ValueError);
  CHECK_THROWS_AS(data::make_data_loader(Numbers(4), DataLoaderOptions(1).workers(1).max_jobs(0)),
                  ValueError);
}

TEST_CASE("A new loop drops the one under way") {
  for (const int64_t workers : {0, 2}) {
    DataLoader loader(Numbers(20), {.batch_size = 2, .num_workers = workers});
    for (auto& batch : loader) {
      if (batch.target[0].item<int64_t>() >= 4) break;
    }
    CHECK(order(loader) == ints(arange(20)));
  }
}

TEST_CASE("Waiting is counted") {
  DataLoader loader(
      Numbers(4, [](size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }),
      {.batch_size = 2});
  (void)order(loader);
  CHECK(loader.stats().batches == 2);
  CHECK(loader.stats().wait_seconds >= 0.008);
  CHECK(loader.stats().longest_wait_seconds >= 0.004);
  CHECK(loader.stats().longest_wait_seconds <= loader.stats().wait_seconds);
  loader.reset_stats();
  CHECK(loader.stats().batches == 0);
}
