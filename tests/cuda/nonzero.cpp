#include "indexing.h"

using namespace cuda_tests;

// count_nonzero, nonzero, masked_select, masked_scatter.

namespace {

// About one element in `rarity` is not zero; -0 and NaN among them where there are such.
template <class T>
std::vector<T> sparse_values(size_t count, ScalarType dtype, uint32_t seed, uint32_t rarity) {
  std::vector<T> values = random_values<T>(count, dtype, seed);
  std::mt19937 random(seed + 1);
  for (T& value : values) {
    if (dtype == kBool) value = T(1);
    if (random() % rarity != 0) value = static_cast<T>(-0.f);
  }
  return values;
}

template <class T>
void check_nonzero(const std::vector<int64_t>& sizes, ScalarType dtype, uint32_t rarity,
                   int64_t offset = 0) {
  INFO(to_string(dtype) << " rank " << sizes.size() << " of " << (sizes.empty() ? 1 : sizes[0])
                        << " rarity " << rarity << " offset " << offset);
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  Twin<T> in(sparse_values<T>(static_cast<size_t>(numel + offset), dtype, 1, rarity));
  int64_t counts[2] = {-1, -1};
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.count_nonzero(&counts[device], place(in, device, offset), dtype, numel, stream);
  });
  REQUIRE(counts[0] == counts[1]);
  Twin<int64_t> out(static_cast<size_t>(counts[0]) * sizes.size(), -1);
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.nonzero(device ? out.device() : out.host(), place(in, device, offset), dtype,
                         static_cast<int>(sizes.size()), sizes.data(), stream);
  });
  check_equal(out);
}

template <class T>
void check_masked(int64_t numel, ScalarType dtype, uint32_t rarity, int64_t offset) {
  INFO(to_string(dtype) << " numel " << numel << " rarity " << rarity << " offset " << offset);
  const auto count = static_cast<size_t>(numel);
  Twin<uint8_t> mask(sparse_values<uint8_t>(count + static_cast<size_t>(offset), kBool, 3, rarity));
  Twin<T> in(random_values<T>(count, dtype, 4));
  size_t set = 0;
  for (size_t i = static_cast<size_t>(offset); i < mask.size(); ++i) set += mask.host()[i];
  Twin<T> selected(set), written(random_values<T>(count, dtype, 5));
  Twin<T> source(random_values<T>(set, dtype, 6));
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    const bool* const at = static_cast<const bool*>(place(mask, device, offset));
    const Status status =
        table.masked_select(place(selected, device), place(in, device), at, dtype, numel, stream);
    if (!status.ok()) return status;
    return table.masked_scatter(place(written, device), at, place(source, device), dtype, numel,
                                stream);
  });
  check_equal(selected);
  check_equal(written);
}

}  // namespace

TEST_CASE("CUDA finds the nonzero elements that the CPU finds") {
  for_every_dtype([&]<class T>(T, ScalarType dtype) {
    for (const uint32_t rarity : {1u, 3u, 100u}) {
      check_nonzero<T>({257}, dtype, rarity);
      check_nonzero<T>({3, 5, 17}, dtype, rarity);
    }
    check_nonzero<T>({1}, dtype, 1);
    check_nonzero<T>({}, dtype, 1);
    check_nonzero<T>({0}, dtype, 1);
    check_nonzero<T>({2, 129}, dtype, 2, 1);  // begins between two packets
  });
  // Several ranges, and just around the end of one.
  for (const int64_t numel : {4095, 4096, 4097, 20000}) check_nonzero<uint8_t>({numel}, kBool, 5);
  check_nonzero<float>({4099, 3}, kFloat, 7, 3);
}

TEST_CASE("CUDA selects and writes by masks as the CPU does") {
  for_every_dtype([&]<class T>(T, ScalarType dtype) {
    for (const uint32_t rarity : {1u, 3u, 100u}) check_masked<T>(1030, dtype, rarity, 0);
    check_masked<T>(1, dtype, 1, 0);
    check_masked<T>(0, dtype, 1, 0);
    check_masked<T>(300, dtype, 2, 7);
  });
  check_masked<float>(20000, kFloat, 4, 0);
  check_masked<float>(20000, kFloat, 4, 5);
}
