#include <algorithm>
#include <cmath>
#include <numeric>

#include "taper/kernels/functors/philox.h"
#include "values.h"

using namespace cuda_tests;
using functors::Words4;

namespace {

/// The words that each element gets from PyTorch's grid on the card of the tests.
class Draws {
 public:
  Draws(CudaRngState state, int64_t count, int numbers) : state_(state), numbers_(numbers) {
    DeviceProperties device;
    require_ok(cuda_runtime().properties(0, &device));
    const int64_t most =
        device.multi_processor_count * (device.max_threads_per_multi_processor / 256);
    threads_ = std::min(most, (count + 255) / 256) * 256;
  }

  /// The offset once `count` elements are drawn.
  uint64_t offset_after(int64_t count) const {
    const int64_t of_a_call = threads_ * numbers_;
    return state_.offset + static_cast<uint64_t>((count + of_a_call - 1) / of_a_call * 4);
  }
  /// The words of the call that element i is in, and its place among the call's numbers.
  Words4 words(int64_t i) const {
    return functors::philox(state_.seed,
                            state_.offset / 4 + static_cast<uint64_t>(i / threads_ / numbers_),
                            static_cast<uint64_t>(i % threads_));
  }
  int place(int64_t i) const { return static_cast<int>(i / threads_ % numbers_); }

  uint32_t word(int64_t i) const { return words(i).word[place(i)]; }
  uint64_t word64(int64_t i) const {
    const Words4 w = words(i);
    return uint64_t{w.word[2 * place(i)]} << 32 | w.word[2 * place(i) + 1];
  }
  float uniform(int64_t i) const { return functors::uniform_of_word(word(i)); }
  double uniform64(int64_t i) const {
    const Words4 w = words(i);
    return functors::uniform_of_words(w.word[2 * place(i)], w.word[2 * place(i) + 1]);
  }
  float normal(int64_t i) const {
    const Words4 w = words(i);
    float pair[2];
    const int first = place(i) / 2 * 2;
    functors::normals_of_words(w.word[first], w.word[first + 1], pair[0], pair[1]);
    return pair[place(i) % 2];
  }
  double normal64(int64_t i) const {
    double pair[2];
    functors::normals_of_words(words(i), pair[0], pair[1]);
    return pair[place(i)];
  }

 private:
  CudaRngState state_;
  int numbers_;
  int64_t threads_;
};

constexpr CudaRngState kState{0x1234567890abcdef, 8};
/// About the edges of blocks and of the grid; beyond it threads make more than one call.
const int64_t kSizes[] = {1, 3, 255, 256, 1000, 8192, 8195, 40001};

/// One call of random on CUDA, from kState; and what the offset became.
template <class T>
std::pair<std::vector<T>, uint64_t> draw(RandomOp op, int64_t count, Value p0, Value p1,
                                         ScalarType dtype = dtype_of<T>, int64_t shift = 0) {
  CudaRngState state = kState;
  Twin<T> out(static_cast<size_t>(count + shift));
  RandomArgs args{op, dtype, out.device() + shift, count, {p0, p1}, &state};
  require_ok(cuda_table().random(args, cuda_stream()));
  std::vector<T> values = out.download();
  values.erase(values.begin(), values.begin() + shift);
  return {values, state.offset};
}

/// expected(draws, i) for each element, within `relative`.
template <class T, class Expected>
void check_draws(RandomOp op, int numbers, Value p0, Value p1, double relative,
                 const Expected& expected) {
  // Among the denormal numbers one rounding is this.
  const double denormal = std::is_same_v<T, Half> && relative > 0 ? 0x1p-24 : 0;
  for (const int64_t count : kSizes) {
    for (const int64_t shift : {0, 1}) {
      INFO(count << " elements, shift " << shift);
      const auto [values, offset] = draw<T>(op, count, p0, p1, dtype_of<T>, shift);
      const Draws draws(kState, count, numbers);
      CHECK(offset == draws.offset_after(count));
      for (int64_t i = 0; i < count; ++i) {
        const double got = static_cast<double>(values[static_cast<size_t>(i)]);
        const double wanted = static_cast<double>(static_cast<T>(expected(draws, i)));
        if (got == wanted || std::abs(got - wanted) <= relative * std::abs(wanted) + denormal) {
          continue;
        }
        INFO("element " << i << ": " << got << ", expected " << wanted);
        FAIL("not PyTorch's number");
      }
    }
  }
}

template <class T>
constexpr int kNumbers = std::is_same_v<T, double> ? 2 : 4;

/// What is computed in float and rounded once can be one rounding away.
template <class T>
double rounding() {
  if constexpr (std::is_same_v<T, Half>) return 0x1p-10;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1p-7;
  return 4 * tolerance<T>();
}

template <class T>
StatisticsOf<T> uniform_for(const Draws& draws, int64_t i) {
  if constexpr (std::is_same_v<T, double>)
    return draws.uniform64(i);
  else
    return draws.uniform(i);
}
template <class T>
StatisticsOf<T> normal_for(const Draws& draws, int64_t i) {
  if constexpr (std::is_same_v<T, double>)
    return draws.normal64(i);
  else
    return draws.normal(i);
}

}  // namespace

TEST_CASE("the first numbers of a seed are those that PyTorch prints on CUDA") {
  const auto check = [](RandomOp op, uint64_t seed, std::vector<float> expected) {
    CudaRngState state{seed, 0};
    Twin<float> out(expected.size());
    const auto count = static_cast<int64_t>(expected.size());
    require_ok(
        cuda_table().random({op, kFloat, out.device(), count, {0.0, 1.0}, &state}, cuda_stream()));
    const std::vector<float> got = out.download();
    for (size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - expected[i]) < 0.6e-4f);
    CHECK(state.offset == 4);
  };
  // torch.manual_seed(0); torch.rand(10, device="cuda"), and randn.
  check(RandomOp::kUniform, 0,
        {0.3990f, 0.5167f, 0.0249f, 0.9401f, 0.9459f, 0.7967f, 0.4150f, 0.8203f, 0.2290f, 0.9096f});
  check(RandomOp::kNormal, 0,
        {-0.9247f, -0.4253f, -2.6438f, 0.1452f, -0.1209f, -0.5797f, -0.6229f, -0.3284f, -1.0745f,
         -0.3631f});
  check(RandomOp::kNormal, 42, {0.1940f, 2.1614f, -0.1721f, 0.8491f, -1.9244f});
}

TEMPLATE_TEST_CASE("uniform numbers on CUDA", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  using C = StatisticsOf<T>;
  const auto in = [](C from, C to) {
    return [=](const Draws& draws, int64_t i) {
      const T value = static_cast<T>(std::fma(uniform_for<T>(draws, i), to - from, from));
      return static_cast<C>(value) == to ? static_cast<T>(from) : value;
    };
  };
  check_draws<T>(RandomOp::kUniform, kNumbers<T>, 0.0, 1.0, 0, in(0, 1));
  check_draws<T>(RandomOp::kUniform, kNumbers<T>, -3.0, 2.5, 0, in(-3, 2.5));
}

TEMPLATE_TEST_CASE("normal numbers on CUDA", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  check_draws<T>(RandomOp::kNormal, kNumbers<T>, 0.0, 1.0, rounding<T>(),
                 [](const Draws& draws, int64_t i) { return normal_for<T>(draws, i); });
  check_draws<T>(RandomOp::kLogNormal, kNumbers<T>, 0.5, 0.25, rounding<T>(),
                 [](const Draws& draws, int64_t i) {
                   return std::exp(std::fma(normal_for<T>(draws, i), StatisticsOf<T>(0.25),
                                            StatisticsOf<T>(0.5)));
                 });
}

TEMPLATE_TEST_CASE("functions of uniform numbers on CUDA", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  using C = StatisticsOf<T>;
  check_draws<T>(RandomOp::kExponential, kNumbers<T>, 1.5, 0.0, rounding<T>(),
                 [](const Draws& draws, int64_t i) {
                   const C x = uniform_for<T>(draws, i);
                   const C least = std::numeric_limits<C>::epsilon() / 2;
                   return -1 / C(1.5) * (x >= 1 - least ? -least : std::log(x));
                 });
  check_draws<T>(RandomOp::kCauchy, kNumbers<T>, 2.0, 3.0, 64 * rounding<T>(),
                 [](const Draws& draws, int64_t i) {
                   const C x = uniform_for<T>(draws, i);
                   return 2 + 3 * std::tan(C(3.14159265358979323846) * (x - C(0.5)));
                 });
}

TEMPLATE_TEST_CASE("geometric numbers on CUDA", "", float, double, int64_t, uint8_t) {
  using T = TestType;
  using C = StatisticsOf<T>;
  check_draws<T>(RandomOp::kGeometric, kNumbers<T>, 0.2, 0.0, 0, [](const Draws& draws, int64_t i) {
    const C p = C(0.2);
    const C failure = std::is_same_v<C, double> ? std::log1p(-p) : std::log(1 - p);
    return std::max(C(1), std::ceil(std::log(uniform_for<T>(draws, i)) / failure));
  });
}

TEMPLATE_TEST_CASE("coins on CUDA", "", float, double, Half, BFloat16, int64_t, int32_t, int16_t,
                   int8_t, uint8_t) {
  using T = TestType;
  for (const double p : {0.0, 0.3, 1.0}) {
    check_draws<T>(RandomOp::kBernoulli, kNumbers<T>, p, 0.0, 0,
                   [&](const Draws& draws, int64_t i) {
                     return p == 1 || uniform_for<T>(draws, i) < static_cast<StatisticsOf<T>>(p);
                   });
  }
}

TEMPLATE_TEST_CASE("coins with a probability each on CUDA", "", float, double, Half, BFloat16) {
  using P = TestType;
  for (const int64_t count : {1, 4, 7, 4099}) {
    std::vector<P> p = numbers<P>(count, 51, 0, 1);
    p[0] = P(1.f);
    if (count > 1) p[1] = P(0.f);
    Twin<P> probabilities(p);
    Twin<int32_t> whole(p.size());
    Twin<double> real(p.size());
    CudaRngState state = kState;
    RandomArgs args{RandomOp::kBernoulli,   kInt,       whole.device(), count, {}, &state,
                    probabilities.device(), dtype_of<P>};
    require_ok(cuda_table().random(args, cuda_stream()));
    CHECK(state.offset == kState.offset + 12);
    state = kState;
    args.dtype = kDouble;
    args.out = real.device();
    require_ok(cuda_table().random(args, cuda_stream()));
    const std::vector<int32_t> coins = whole.download();
    const std::vector<double> real_coins = real.download();
    for (size_t i = 0; i < coins.size(); ++i) {
      const float x = functors::uniform_of_word(
          functors::philox(kState.seed, kState.offset / 4, i / 4).word[i % 4]);
      CHECK(coins[i] == (x <= static_cast<float>(static_cast<double>(p[i]))));
      CHECK(real_coins[i] == (static_cast<double>(x) <= static_cast<double>(p[i])));
    }
  }
}

TEST_CASE("a probability that is none is reported") {
  CudaRngState state = kState;
  Twin<float> p(std::vector<float>{0.5f, 1.5f, 0.2f});
  Twin<uint8_t> out(3);
  require_ok(cuda_table().random(
      {RandomOp::kBernoulli, kBool, out.device(), 3, {}, &state, p.device(), kFloat},
      cuda_stream()));
  check_fault(Code::kInvalidValue, "bernoulli: a probability outside [0, 1]", 0, -1);
}

TEMPLATE_TEST_CASE("whole numbers in a range on CUDA", "", float, double, Half, BFloat16, int64_t,
                   int32_t, int16_t, int8_t, uint8_t) {
  using T = TestType;
  check_draws<T>(RandomOp::kRandomRange, 4, int64_t{3}, int64_t{100}, 0,
                 [](const Draws& draws, int64_t i) {
                   return static_cast<T>(static_cast<float>(3 + draws.word(i) % 97));
                 });
}

TEST_CASE("wide ranges take 64 bits on CUDA") {
  const int64_t low = -(int64_t{1} << 40), high = int64_t{1} << 41;
  check_draws<int64_t>(RandomOp::kRandomRange, 2, low, high, 0, [&](const Draws& draws, int64_t i) {
    return low + static_cast<int64_t>(draws.word64(i) % static_cast<uint64_t>(high - low));
  });
  check_draws<int32_t>(RandomOp::kRandomRange, 2, int64_t{-7}, int64_t{1} << 28, 0,
                       [&](const Draws& draws, int64_t i) {
                         return static_cast<int32_t>(draws.word64(i) % ((1 << 28) + 7)) - 7;
                       });
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  const auto [values, offset] = draw<int64_t>(RandomOp::kRandomRange, 500, lowest, lowest);
  const Draws draws(kState, 500, 2);
  CHECK(offset == draws.offset_after(500));
  for (int64_t i = 0; i < 500; ++i) {
    CHECK(static_cast<uint64_t>(values[static_cast<size_t>(i)]) ==
          draws.word64(i) + (uint64_t{1} << 63));
  }
}

TEST_CASE("whole numbers without bounds on CUDA are all that the dtype holds exactly") {
  const Value none;
  const auto full = [&]<class T>(T, uint64_t range) {
    constexpr bool kLong = std::is_same_v<T, double> || std::is_same_v<T, int64_t>;
    check_draws<T>(
        RandomOp::kRandomFull, kLong ? 2 : 4, none, none, 0, [&](const Draws& draws, int64_t i) {
          return static_cast<double>(kLong ? draws.word64(i) % range : draws.word(i) % range);
        });
  };
  full(float(), (1 << 24) + 1);
  full(double(), (uint64_t{1} << 53) + 1);
  full(Half(), (1 << 11) + 1);
  full(BFloat16(), (1 << 8) + 1);
  full(int64_t(), uint64_t{1} << 63);
  full(int32_t(), uint64_t{1} << 31);
  full(int16_t(), 1 << 15);
  full(int8_t(), 1 << 7);
  full(uint8_t(), 1 << 8);
  const auto [bits, offset] = draw<uint8_t>(RandomOp::kRandomFull, 300, none, none, kBool);
  const Draws draws(kState, 300, 4);
  for (int64_t i = 0; i < 300; ++i) CHECK(bits[static_cast<size_t>(i)] == (draws.word(i) & 1));
}

TEST_CASE("nothing is drawn for no elements") {
  CudaRngState state = kState;
  require_ok(cuda_table().random({RandomOp::kUniform, kFloat, nullptr, 0, {0.0, 1.0}, &state},
                                 cuda_stream()));
  CHECK(state.offset == kState.offset);
}
