#include "support.h"

using namespace data_test;
using data::DataLoader;
using data::LoaderState;
namespace transforms = data::transforms;

namespace {

auto random_images() {
  return data::datasets::LabeledTensorDataset(counting({23, 1, 5, 5}, kFloat), arange(23))
      .map(transforms::RandomCrop(5, 2));
}

// Both tensors of each batch.
template <class Loader>
std::vector<Tensor> collect(Loader& loader, std::vector<Tensor> all = {}) {
  for (auto& [images, labels] : loader) {
    all.push_back(images);
    all.push_back(labels);
  }
  return all;
}

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_bytes(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("An interrupted epoch goes on with exactly the batches that remain") {
  const TempFolder folder;
  const bool own_generator = GENERATE(false, true);
  const int64_t workers = GENERATE(0, 2);
  const size_t stop_after = GENERATE(1u, 3u, 5u, 6u);  // of 6; the prefetch is done long before
  CAPTURE(own_generator, workers, stop_after);
  const auto options = [&](int64_t count) {
    data::LoaderOptions o{.batch_size = 4, .shuffle = true, .num_workers = count};
    if (own_generator) o.generator = Generator(77);
    return o;
  };

  // Two epochs and a half in one go.
  manual_seed(31);
  DataLoader whole(random_images(), options(workers));
  std::vector<Tensor> expected;
  for (int epoch = 0; epoch < 3; ++epoch) expected = collect(whole, expected);
  const Tensor expected_after = rand({4});

  // The same, stopped in the second epoch, written to a file, and continued by a new loader.
  manual_seed(31);
  std::vector<Tensor> got;
  std::vector<uint8_t> random_state;
  {
    DataLoader first(random_images(), options(workers));
    got = collect(first);
    size_t count = 0;
    for (auto& [images, labels] : first) {
      got.push_back(images);
      got.push_back(labels);
      if (++count == stop_after) {
        data::save_safetensors(first.state_dict().to_tensors(), folder / "state");
        random_state = taper::detail::getDefaultCPUGenerator().state_bytes();
        break;
      }
    }
  }
  manual_seed(999);
  Generator default_generator = taper::detail::getDefaultCPUGenerator();
  default_generator.set_state_bytes(random_state);
  DataLoader second(random_images(), options(workers == 0 ? 3 : 0));
  second.load_state_dict(LoaderState::from_tensors(data::load_safetensors(folder / "state")));
  CHECK(second.state_dict().batch == static_cast<int64_t>(stop_after));
  got = collect(second, got);
  got = collect(second, got);
  CHECK(same(got, expected));
  CHECK(equal(rand({4}), expected_after));
}

TEST_CASE("Between epochs the state leads into the next epoch") {
  manual_seed(4);
  DataLoader loader(random_images(), {.batch_size = 4, .shuffle = true});
  (void)collect(loader);
  const LoaderState state = loader.state_dict();
  CHECK_FALSE(state.in_epoch);
  CHECK(state.epoch == 1);
  const auto random_state = taper::detail::getDefaultCPUGenerator().state_bytes();
  const auto expected = collect(loader);
  Generator default_generator = taper::detail::getDefaultCPUGenerator();
  default_generator.set_state_bytes(random_state);
  DataLoader other(random_images(), {.batch_size = 4, .shuffle = true});
  other.load_state_dict(state);
  CHECK(same(collect(other), expected));
}

TEST_CASE("A sequential loader and LibTorch's go on as well") {
  DataLoader loader(Numbers(10), {.batch_size = 3, .num_workers = 1});
  auto batch = loader.begin();
  ++batch;
  DataLoader other(Numbers(10), {.batch_size = 3});
  other.load_state_dict(loader.state_dict());
  CHECK(batches(other) == std::vector<std::vector<int64_t>>{{6, 7, 8}, {9}});
  CHECK(batches(other).size() == 4);

  auto first = data::make_data_loader(Numbers(10).map(transforms::Stack<>()), 3);
  auto second = data::make_data_loader(Numbers(10).map(transforms::Stack<>()), 3);
  auto at = first->begin();
  ++at;
  const LoaderState state = first->state_dict();
  second->load_state_dict(state);
  std::vector<int64_t> rest;
  for (++at; at != first->end(); ++at) {
    for (const int64_t sample : ints(at->target)) rest.push_back(sample);
  }
  CHECK(order(*second) == rest);
}

TEST_CASE("A state that doesn't fit is refused") {
  DataLoader loader(Numbers(10), {.batch_size = 3, .shuffle = true});
  (void)loader.begin();
  const LoaderState state = loader.state_dict();
  DataLoader larger(Numbers(10), {.batch_size = 4, .shuffle = true});
  CHECK_THAT(error_of<ValueError>([&] { larger.load_state_dict(state); }),
             ContainsSubstring("batches of 3, but this loader's batch_size is 4"));
  DataLoader longer(Numbers(11), {.batch_size = 3, .shuffle = true});
  CHECK_THAT(error_of<ValueError>([&] { longer.load_state_dict(state); }),
             ContainsSubstring("orders 10 samples, but this dataset has 11"));
  DataLoader own(Numbers(10), {.batch_size = 3, .shuffle = true, .generator = Generator(1)});
  CHECK_THAT(error_of<ValueError>([&] { own.load_state_dict(state); }),
             ContainsSubstring("generator"));
  CHECK_THROWS_AS(LoaderState::from_tensors({}), ValueError);
  CHECK_THROWS_AS(LoaderState::from_tensors({{"position", full({7}, 1.0)}}), ValueError);
  CHECK_THROWS_AS(LoaderState::from_tensors({{"position", full({7}, 9, kLong)}}), ValueError);
  // The refused loader is as it was.
  CHECK(order(longer).size() == 11);
}
