#include "taper/core/generator.h"

#include <thread>
#include <vector>

#include "catch.h"

// Constants from PyTorch 2.15: torch.manual_seed(s), then empty(n, dtype=int64).random_(-2**63,
// None), whose elements are pairs of words, the first one high.

using namespace taper;

namespace {

uint64_t draw(const Generator& generator) { return taper::detail::draw_long(generator.state()); }

}  // namespace

TEST_CASE("a seed gives PyTorch's numbers", "[generator]") {
  struct Row {
    uint64_t seed, first, second;
  };
  const Row row = GENERATE(Row{0, 0x8c7f0aac97c4aa2f, 0xb716a675d821ccc0},
                           Row{5, 0x38d48b630e2048ce, 0xdee84fefd4d1e6bd},
                           Row{67280421310721, 0x8c446d7644df5e04, 0xef55d57dc4672c0c},
                           Row{(uint64_t{1} << 63) + 12345, 0xedfb51e2e3e12de5, 0x50fdfd1d21760881},
                           Row{~uint64_t{0}, 0x18fe69a31c924122, 0xe991ec0c900cac47});
  const Generator generator(row.seed);
  CHECK(generator.current_seed() == row.seed);
  CHECK(draw(generator) == row.first);
  CHECK(draw(generator) == row.second);
}

TEST_CASE("the stream goes on past a block of 624 words", "[generator]") {
  const Generator generator(0);
  std::vector<uint64_t> drawn(400);
  for (uint64_t& number : drawn) number = draw(generator);
  CHECK(drawn[311] == 0x259e4b8ce2031ce4);  // the last two words of the first block
  CHECK(drawn[312] == 0x145b8f3a4028cf81);
  CHECK(drawn[399] == 0x2f6b62b8d8695c78);
}

TEST_CASE("a generator has PyTorch's default seed", "[generator]") {
  CHECK(Generator().current_seed() == 67280421310721u);
  CHECK(make_generator<CPUGeneratorImpl>().current_seed() == 67280421310721u);
  CHECK(taper::detail::createCPUGenerator(7).current_seed() == 7);
}

TEST_CASE("copies of a generator share its state, clones do not", "[generator]") {
  Generator generator(3);
  const Generator same = generator;
  const Generator clone = generator.clone();
  CHECK(same == generator);
  CHECK_FALSE(clone == generator);
  const uint64_t first = draw(generator), second = draw(same);
  CHECK(draw(clone) == first);
  CHECK(draw(clone) == second);
  CHECK(clone.current_seed() == 3);
  generator.set_current_seed(3);
  CHECK(draw(same) == first);
}

TEST_CASE("manual_seed governs the default generator", "[generator]") {
  const Generator& generator = taper::detail::getDefaultCPUGenerator();
  manual_seed(5);
  CHECK(initial_seed() == 5);
  CHECK(draw(generator) == 0x38d48b630e2048ce);
  const uint64_t drawn = taper::seed();
  CHECK(initial_seed() == drawn);
  CHECK(taper::seed() != drawn);
  manual_seed(5);
  CHECK(draw(generator) == 0x38d48b630e2048ce);
}

TEST_CASE("seeding forgets the spare normal number", "[generator]") {
  Generator generator(5);
  generator.state().has_spare_double = true;
  generator.set_current_seed(5);
  CHECK_FALSE(generator.state().has_spare_double);
}

TEST_CASE("a saved state continues the stream", "[generator]") {
  const int drawn_before = GENERATE(0, 1, 311, 312, 500);
  Generator generator(11);
  for (int i = 0; i < drawn_before; ++i) draw(generator);
  generator.state().has_spare_double = true;
  generator.state().spare_double = 0.25;
  const std::vector<uint8_t> bytes = generator.state_bytes();
  CHECK(bytes.size() == 5056);
  Generator other(1);
  other.set_state_bytes(bytes);
  CHECK(other.current_seed() == 11);
  CHECK(other.state().has_spare_double);
  CHECK(other.state().spare_double == 0.25);
  for (int i = 0; i < 700; ++i) REQUIRE(draw(other) == draw(generator));
}

TEST_CASE("state bytes are laid out as PyTorch's", "[generator]") {
  Generator generator(0);
  for (int i = 0; i < 400; ++i) draw(generator);
  const std::vector<uint8_t> bytes = generator.state_bytes();
  const auto number = [&](size_t at, int size) {
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; --i) value = value << 8 | bytes[at + static_cast<size_t>(i)];
    return value;
  };
  CHECK(number(0, 8) == 0);            // seed
  CHECK(number(8, 4) == 449);          // left
  CHECK(number(12, 4) == 1);           // seeded
  CHECK(number(16, 8) == 176);         // next
  CHECK(number(24, 8) == 0x595ab77a);  // first word of the second block
}

TEST_CASE("bytes that are no state are refused and change nothing", "[generator]") {
  Generator generator(9);
  const std::vector<uint8_t> good = generator.state_bytes();
  std::vector<uint8_t> bytes = good;
  SECTION("too short") { bytes.pop_back(); }
  SECTION("empty") { bytes.clear(); }
  SECTION("not seeded") { bytes[12] = 0; }
  SECTION("none left") { bytes[8] = 0; }
  SECTION("next does not fit left") { bytes[8] = 3; }
  SECTION("a word of more than 32 bits") { bytes[24 + 4] = 1; }
  CHECK_THROWS_AS(generator.set_state_bytes(bytes), Error);
  CHECK(generator.state_bytes() == good);
}

TEST_CASE("threads that lock the mutex share one stream", "[generator]") {
  const Generator generator(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([generator] {
      for (int i = 0; i < 100; ++i) {
        const std::lock_guard<std::mutex> lock(generator.mutex());
        draw(generator);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Generator alone(2);
  for (int i = 0; i < 400; ++i) draw(alone);
  CHECK(draw(generator) == draw(alone));
}
