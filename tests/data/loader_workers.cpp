#include "support.h"

using namespace data_test;
using data::DataLoader;
namespace transforms = data::transforms;

using namespace std::chrono_literals;

namespace {

// Opens for all threads at once.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace

TEST_CASE(
    "Samples, their order and their random transforms don't depend on the number of workers") {
  const auto run = [](int64_t workers, bool persistent) {
    manual_seed(11);
    auto dataset = data::datasets::LabeledTensorDataset(counting({40, 1, 6, 6}, kFloat), arange(40))
                       .map(transforms::Compose(transforms::RandomHorizontalFlip(),
                                                transforms::RandomCrop(6, 2)))
                       .map(transforms::Lambda<data::Example<>>([](data::Example<> e) {
                         // Late samples are quick, so that workers overtake each other.
                         std::this_thread::sleep_for(100us * (e.target.item<int64_t>() % 7));
                         return data::Example<>(e.data + data::sample_random().uniform(), e.target);
                       }));
    DataLoader loader(dataset, {.batch_size = 7,
                                .shuffle = true,
                                .num_workers = workers,
                                .persistent_workers = persistent});
    std::vector<Tensor> all;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (auto& [images, labels] : loader) {
        all.push_back(images);
        all.push_back(labels);
      }
    }
    return all;
  };
  for (const bool persistent : {false, true}) {
    const auto one = run(1, persistent);
    REQUIRE(one.size() == 24);
    CHECK_FALSE(equal(one[0], one[12]));  // each epoch has numbers of its own
    for (const int64_t workers : {0, 2, 3, 8}) {
      if (workers == 0 && persistent) continue;
      const auto other = run(workers, persistent);
      REQUIRE(other.size() == one.size());
      for (size_t i = 0; i < one.size(); ++i) CHECK(same_bytes(one[i], other[i]));
    }
  }
}

TEST_CASE("Samples of one batch have random numbers of their own, and so has each transform") {
  auto dataset = Numbers(50)
                     .map(transforms::TensorLambda<>(
                         [](Tensor) { return full({}, data::sample_random().uniform(), kDouble); }))
                     .map(transforms::TensorLambda<>([](Tensor x) {
                       return stack({x, full({}, data::sample_random().uniform(), kDouble)});
                     }));
  DataLoader loader(dataset, {.batch_size = 50, .num_workers = 1});
  std::set<double> seen;
  for (auto& batch : loader) {
    for (int64_t i = 0; i < 100; ++i)
      seen.insert(batch.data.reshape({-1})[i].template item<double>());
  }
  CHECK(seen.size() == 100);
}

TEST_CASE("Generators for tensor ops follow the sample too") {
  const auto run = [](int64_t workers) {
    manual_seed(1);
    auto noisy = Numbers(6).map(transforms::TensorLambda<>(
        [](Tensor) { return randn({3}, data::sample_random().generator()); }));
    DataLoader loader(noisy, {.batch_size = 2, .num_workers = workers});
    std::vector<Tensor> all;
    for (auto& batch : loader) all.push_back(batch.data);
    return cat(all);
  };
  const Tensor expected = run(0);
  CHECK_FALSE(equal(expected[0], expected[1]));
  CHECK(equal(run(3), expected));
}

TEST_CASE("No more batches are under way than asked for") {
  auto started = std::make_shared<std::atomic<int>>(0);
  DataLoader loader(Numbers(100, [started](size_t) { ++*started; }),
                    {.batch_size = 1, .num_workers = 2, .prefetch_factor = 3});
  auto batch = loader.begin();
  for (int i = 0; i < 100 && *started < 7; ++i) std::this_thread::sleep_for(2ms);
  std::this_thread::sleep_for(20ms);
  CHECK(*started == 7);  // one taken, six ahead
  ++batch;
  for (int i = 0; i < 100 && *started < 8; ++i) std::this_thread::sleep_for(2ms);
  std::this_thread::sleep_for(20ms);
  CHECK(*started == 8);
}

TEST_CASE("Without order, batches come as they are ready") {
  auto gate = std::make_shared<Gate>();
  DataLoader loader(Numbers(4,
                            [gate](size_t index) {
                              if (index == 0) gate->wait();
                            }),
                    {.batch_size = 1, .num_workers = 2, .prefetch_factor = 4, .in_order = false});
  std::vector<int64_t> seen;
  for (auto& batch : loader) {
    seen.push_back(batch.target.item<int64_t>());
    if (seen.size() == 3) gate->open();
  }
  CHECK(seen == std::vector<int64_t>{1, 2, 3, 0});
}

TEST_CASE("What a worker throws is thrown where the batch is taken, with the sample's index") {
  struct Broken : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  DataLoader loader(Numbers(12,
                            [](size_t index) {
                              if (index == 7) throw Broken("bad file");
                            }),
                    {.batch_size = 3, .num_workers = 2});
  auto batch = loader.begin();
  CHECK(ints(batch->target) == std::vector<int64_t>{0, 1, 2});
  ++batch;
  try {
    ++batch;
    FAIL("nothing was thrown");
  } catch (const data::WorkerException& error) {
    CHECK_THAT(error.what(), ContainsSubstring("DataLoader worker ") &&
                                 ContainsSubstring("batch 2, sample 7: bad file"));
    CHECK_THROWS_AS(std::rethrow_exception(error.original_exception), Broken);
  }
  // The epoch goes on after it.
  ++batch;
  CHECK(ints(batch->target) == std::vector<int64_t>{9, 10, 11});
  ++batch;
  CHECK(batch == loader.end());

  SECTION("of a transform: the index in the dataset, whatever the order") {
    auto dataset = Numbers(12).map(transforms::Lambda<data::Example<>>([](data::Example<> e) {
      TAPER_CHECK(e.target.item<int64_t>() != 5, "cannot transform");
      return e;
    }));
    manual_seed(0);
    DataLoader shuffled(dataset, {.batch_size = 4, .shuffle = true, .num_workers = 3});
    CHECK_THAT(error_of<data::WorkerException>([&] { (void)order(shuffled); }),
               ContainsSubstring("sample 5: cannot transform"));
  }
  SECTION("without workers it passes as it is") {
    DataLoader plain(Numbers(3, [](size_t) { throw Broken("bad file"); }), {});
    CHECK_THROWS_AS(order(plain), Broken);
  }
  SECTION("also what is no std::exception") {
    DataLoader odd(Numbers(3, [](size_t) { throw 3; }), {.num_workers = 1});
    CHECK_THAT(error_of<data::WorkerException>([&] { (void)order(odd); }),
               ContainsSubstring("sample 0"));
  }
}

TEST_CASE("A stuck worker is given up after its timeout, and the loader can go on") {
  auto gate = std::make_shared<Gate>();
  auto stuck = std::make_shared<std::atomic<bool>>(true);
  {
    DataLoader loader(Numbers(12,
                              [=](size_t index) {
                                if (index == 5 && *stuck) gate->wait();
                              }),
                      {.batch_size = 2, .num_workers = 2, .timeout = 0.05});
    std::string message;
    std::vector<int64_t> seen;
    const auto start = std::chrono::steady_clock::now();
    try {
      for (auto& batch : loader) seen.push_back(batch.target[0].template item<int64_t>());
    } catch (const data::TimeoutError& error) {
      message = error.what();
    }
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    CHECK(seen == std::vector<int64_t>{0, 2});
    CHECK_THAT(message, ContainsSubstring("no batch was ready within 50 ms") &&
                            ContainsSubstring("batch 2, sample 5"));
    // New workers take the place of the old.
    *stuck = false;
    CHECK(order(loader) == ints(arange(12)));
  }
  // The thread that was left behind wakes up after its loader is gone.
  gate->open();
  std::this_thread::sleep_for(20ms);
}

TEST_CASE("Destruction waits for running workers and drops the rest") {
  auto started = std::make_shared<std::atomic<int>>(0),
       ended = std::make_shared<std::atomic<int>>(0);
  {
    DataLoader loader(Numbers(100,
                              [=](size_t) {
                                ++*started;
                                std::this_thread::sleep_for(5ms);
                                ++*ended;
                              }),
                      {.batch_size = 1, .num_workers = 3, .prefetch_factor = 20});
    (void)loader.begin();
  }
  CHECK(*started == *ended);
  CHECK(*started < 50);
  SECTION("a loader that was never used") { DataLoader unused(Numbers(3), {.num_workers = 4}); }
  SECTION("a stuck worker holds destruction up no longer than the timeout") {
    auto gate = std::make_shared<Gate>();
    const auto start = std::chrono::steady_clock::now();
    {
      DataLoader loader(Numbers(4,
                                [gate](size_t index) {
                                  if (index == 3) gate->wait();
                                }),
                        {.batch_size = 1, .num_workers = 2, .timeout = 0.1});
      (void)loader.begin();
    }
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    gate->open();
    std::this_thread::sleep_for(20ms);
  }
}

TEST_CASE("Each worker has a dataset of its own") {
  // Not safe to share: it counts without a lock.
  struct Counting : data::datasets::Dataset<Counting> {
    data::Example<> get(size_t index) override {
      ++calls;
      return {full({}, static_cast<double>(calls)), full({}, static_cast<int64_t>(index))};
    }
    std::optional<size_t> size() const override { return 200; }
    int calls = 0;
  };
  DataLoader loader(Counting(), {.batch_size = 5, .num_workers = 4});
  CHECK(order(loader) == ints(arange(200)));

  struct Unique : data::datasets::Dataset<Unique> {
    data::Example<> get(size_t) override { return {full({}, *value), full({}, *value)}; }
    std::optional<size_t> size() const override { return 2; }
    std::unique_ptr<int> value = std::make_unique<int>(1);
  };
  DataLoader alone(Unique(), {.num_workers = 0});
  CHECK(order(alone).size() == 2);
  DataLoader impossible(Unique(), {.num_workers = 1});
  CHECK_THAT(error_of<ValueError>([&] { impossible.begin(); }),
             ContainsSubstring("can't be copied"));
}
