#include <algorithm>
#include <numeric>

#include "taper/kernels/functors/philox.h"
#include "values.h"

using namespace cuda_tests;

namespace {

/// As PyTorch says it permutes: sorts by `bits` bits of random keys, then shuffles what has equal
/// ones. `runs` counts those.
std::vector<int64_t> expected_permutation(int64_t count, int bits, CudaRngState& state, int& runs) {
  const int64_t threads = std::min<int64_t>(32, (count + 255) / 256) * 256;
  std::vector<uint32_t> keys;
  for (int64_t i = 0; i < count; ++i) {
    const auto words =
        functors::philox(state.seed, state.offset / 4 + static_cast<uint64_t>(i / threads / 2),
                         static_cast<uint64_t>(i % threads));
    const auto place = static_cast<size_t>(i / threads % 2 * 2);
    const uint64_t word = uint64_t{words.word[place]} << 32 | words.word[place + 1];
    const auto key = static_cast<uint32_t>(word % 0xffffffffu + 0x80000000u);
    keys.push_back(bits == 32 ? key ^ 0x80000000u : key & ((1u << bits) - 1));
  }
  state.offset += static_cast<uint64_t>((count + threads * 2 - 1) / (threads * 2) * 4);
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const auto key_of = [&](int64_t i) {
    return keys[static_cast<size_t>(order[static_cast<size_t>(i)])];
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
  std::vector<int64_t> result = order;
  for (int64_t i = 0; i < count;) {
    int64_t end = i + 1;
    while (end < count && key_of(end) == key_of(i)) ++end;
    runs += end > i + 1;
    for (int64_t last = end - i - 1, drawn = 0; last > 0; --last, ++drawn) {
      const uint32_t word =
          functors::philox(state.seed, state.offset / 4 + static_cast<uint64_t>(drawn / 4),
                           static_cast<uint64_t>(i))
              .word[drawn % 4];
      std::swap(result[static_cast<size_t>(i + last)],
                result[static_cast<size_t>(i + word % static_cast<uint32_t>(last + 1))]);
    }
    i = end;
  }
  state.offset += static_cast<uint64_t>((count + 3) / 4 * 4);
  return result;
}

}  // namespace

TEST_CASE("permutations on CUDA are PyTorch's") {
  int runs = 0;
  // {count, bits}: the bits as ceil(log2(n - (6 n^2 + 1) / (12 log 0.9))) has them.
  for (const auto& [count, bits] :
       {std::pair<int64_t, int>{1, 3}, {2, 5}, {10, 9}, {300, 19}, {9000, 29}, {16000, 31}}) {
    for (uint64_t seed = 0; seed < (count <= 300 ? 12 : 1); ++seed) {
      INFO(count << " elements, seed " << seed);
      CudaRngState state{seed, 4}, expected_state = state;
      const auto expected = expected_permutation(count, bits, expected_state, runs);
      Twin<int64_t> out(expected.size());
      require_ok(cuda_table().random(
          {RandomOp::kPermutation, kLong, out.device(), count, {}, &state}, cuda_stream()));
      CHECK(out.download() == expected);
      CHECK(state.offset == expected_state.offset);
    }
  }
  CHECK(runs > 0);  // some keys were equal, or this test says little
}

TEMPLATE_TEST_CASE("permutations of other dtypes on CUDA", "", float, Half, int32_t, uint8_t) {
  CudaRngState state{5, 0}, same{5, 0};
  Twin<int64_t> wide(200);
  Twin<TestType> out(200);
  require_ok(cuda_table().random({RandomOp::kPermutation, kLong, wide.device(), 200, {}, &state},
                                 cuda_stream()));
  require_ok(cuda_table().random(
      {RandomOp::kPermutation, dtype_of<TestType>, out.device(), 200, {}, &same}, cuda_stream()));
  const std::vector<int64_t> expected = wide.download();
  const std::vector<TestType> got = out.download();
  for (size_t i = 0; i < got.size(); ++i) CHECK(static_cast<float>(got[i]) == expected[i]);
}
