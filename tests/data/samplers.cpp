#include "taper/data/samplers.h"

#include "support.h"

using namespace data_test;
namespace samplers = data::samplers;

namespace {

using Batch = std::vector<size_t>;

std::vector<size_t> rest(samplers::Sampler<>& sampler, size_t batch_size) {
  std::vector<size_t> all;
  while (auto batch = sampler.next(batch_size)) all.insert(all.end(), batch->begin(), batch->end());
  return all;
}

}  // namespace

TEST_CASE("SequentialSampler counts up, in batches, and starts over") {
  samplers::SequentialSampler sampler(5);
  CHECK(sampler.next(2) == Batch{0, 1});
  CHECK(sampler.index() == 2);
  CHECK(sampler.next(2) == Batch{2, 3});
  CHECK(sampler.next(2) == Batch{4});
  CHECK_FALSE(sampler.next(2).has_value());
  sampler.reset();
  CHECK(sampler.next(9) == Batch{0, 1, 2, 3, 4});
  sampler.reset(2);
  CHECK(rest(sampler, 1) == Batch{0, 1});
  CHECK_FALSE(samplers::SequentialSampler(0).next(1).has_value());
}

TEST_CASE("RandomSampler gives each sample once, in randperm's order") {
  manual_seed(3);
  samplers::RandomSampler sampler(20);
  manual_seed(3);
  const auto expected = ints(randperm(20));
  const auto got = rest(sampler, 6);
  CHECK(std::vector<int64_t>(got.begin(), got.end()) == expected);
  sampler.reset();
  const auto second = ints(randperm(20));  // drawn after the reset's: not the same
  const auto other = rest(sampler, 20);
  CHECK(std::set<size_t>(other.begin(), other.end()).size() == 20);
  CHECK(other != got);
  CHECK(second.size() == 20);
  sampler.reset(3);
  CHECK(rest(sampler, 10).size() == 3);
}

TEST_CASE("A sampler goes on from its saved state") {
  samplers::RandomSampler first(50), second(50);
  (void)first.next(13);
  const auto state = first.state();
  REQUIRE(state.has_value());
  second.load_state(*state);
  CHECK(second.index() == 13);
  CHECK(rest(first, 7) == rest(second, 9));

  samplers::SequentialSampler a(9), b(9);
  (void)a.next(4);
  b.load_state(*a.state());
  CHECK(rest(b, 3) == Batch{4, 5, 6, 7, 8});
}

TEST_CASE("A saved state that doesn't fit is refused") {
  samplers::RandomSampler sampler(5);
  samplers::SamplerState state = *sampler.state();
  CHECK_THAT(error_of<ValueError>([&] { samplers::RandomSampler(6).load_state(state); }),
             ContainsSubstring("orders 5 samples, but this dataset has 6"));
  state.index = 6;
  CHECK_THROWS_AS(sampler.load_state(state), ValueError);
  state.index = 0;
  state.order = full({5}, 7, kLong);
  CHECK_THAT(error_of<ValueError>([&] { sampler.load_state(state); }),
             ContainsSubstring("names sample 7"));
  CHECK_THROWS_AS(sampler.load_state({}), ValueError);
  samplers::SequentialSampler sequential(5);
  state.index = -1;
  CHECK_THROWS_AS(sequential.load_state(state), ValueError);
}

TEST_CASE("random_split gives parts that don't overlap, by number and by fraction") {
  const Numbers dataset(10);
  auto parts = data::random_split(dataset, {int64_t{6}, 3, size_t{1}}, Generator(4));
  REQUIRE(parts.size() == 3);
  std::set<size_t> all;
  for (auto& part : parts) all.insert(part.indices().begin(), part.indices().end());
  CHECK(all.size() == 10);
  CHECK(parts[0].size() == 6u);
  CHECK(parts[1].get(2).target.item<int64_t>() == static_cast<int64_t>(parts[1].indices()[2]));
  CHECK_THROWS_AS(parts[2].get(1), IndexError);
  // 3.33 each, and what rounding leaves over goes to the first.
  auto thirds = data::random_split(dataset, {1. / 3, 1. / 3, 1. / 3});
  CHECK(thirds[0].size() == 4u);
  CHECK(thirds[2].size() == 3u);
  CHECK_THAT(error_of<ValueError>([&] { data::random_split(dataset, {5, 4}); }),
             ContainsSubstring("add up to 9, and the dataset has 10"));
  CHECK_THROWS_AS(data::random_split(dataset, {11, -1}), ValueError);
  CHECK_THROWS_AS(data::random_split(dataset, {0.5, 0.2}), ValueError);
}
