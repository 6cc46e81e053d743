#include <limits>
#include <random>

#include "support.h"
#include "taper/kernels/cuda/context.h"

// Sorting and selecting: rows in shared memory, long rows by digits, the first few of long rows;
// and counting into bins.

using namespace cuda_tests;

namespace {

template <class T>
constexpr bool floating = is_floating_point(dtype_of<T>);

/// With few or many equals. Floats have NaNs, infinities and zeros of both signs among them.
template <class T>
std::vector<T> numbers(const AxisPlan& axis, int seed, bool many_equal) {
  std::mt19937_64 random(static_cast<unsigned>(seed));
  std::vector<T> values(static_cast<size_t>(axis.outer * axis.size * axis.inner));
  for (T& value : values) {
    const uint64_t bits = many_equal ? random() % 7 : random();
    if constexpr (floating<T>) {
      value = T(static_cast<float>(static_cast<int64_t>(bits % 20001) - 10000) / 64.0f);
      if (bits % 97 == 0) value = T(std::numeric_limits<float>::quiet_NaN());
      if (bits % 89 == 0) value = T(std::numeric_limits<float>::infinity());
      if (bits % 83 == 0) value = T(-std::numeric_limits<float>::infinity());
      if (bits % 79 == 0) value = T(-0.0f);
      if (bits % 73 == 0) value = T(0.0f);
    } else {
      value = static_cast<T>(bits);
    }
  }
  return values;
}

template <class T>
void check_sort(const std::vector<T>& values, ScalarType type, const AxisPlan& axis, int64_t k) {
  const auto count = static_cast<size_t>(axis.outer * axis.inner * k);
  Twin<T> in(values), sorted(count);
  Twin<int64_t> at(count);
  for (const bool descending : {false, true}) {
    SortArgs args{type, axis, k, descending, true, sorted.host(), at.host(), in.host()};
    require_ok(cpu_table().sort(args, stream_for(kCPU)));
    args.values = sorted.device();
    args.indices = at.device();
    args.in = in.device();
    require_ok(cuda_table().sort(args, cuda_stream()));
    INFO("dtype " << static_cast<int>(type) << " [" << axis.outer << ", " << axis.size << ", "
                  << axis.inner << "] k " << k << (descending ? " descending" : ""));
    check_equal(at);
    check_equal(sorted);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("CUDA sorts as the CPU", "", float, double, Half, BFloat16, int64_t, int32_t,
                   int16_t, int8_t, uint8_t) {
  using T = TestType;
  int seed = 0;
  for (const AxisPlan& axis : {AxisPlan{1, 1, 1}, AxisPlan{0, 4, 1}, AxisPlan{3, 2, 5},
                               AxisPlan{200, 3, 1}, AxisPlan{5, 33, 7}, AxisPlan{3, 1000, 1},
                               AxisPlan{1, 2048, 1}, AxisPlan{2, 2049, 1}, AxisPlan{1, 2500, 2}}) {
    check_sort(numbers<T>(axis, ++seed, false), dtype_of<T>, axis, axis.size);
    if (axis.size > 2048) continue;
    check_sort(numbers<T>(axis, ++seed, true), dtype_of<T>, axis, axis.size);
  }
}

TEMPLATE_TEST_CASE("CUDA selects as the CPU", "", float, double, Half, int64_t, int8_t) {
  using T = TestType;
  int seed = 50;
  for (const auto& [axis, k] : {std::pair{AxisPlan{4, 50, 1}, 5},
                                {AxisPlan{3, 7, 20}, 1},
                                {AxisPlan{1, 5000, 1}, 1},
                                {AxisPlan{2, 5000, 1}, 100},
                                {AxisPlan{1, 4500, 2}, 2048},
                                {AxisPlan{1, 4200, 1}, 4000}}) {
    check_sort(numbers<T>(axis, ++seed, false), dtype_of<T>, axis, k);
    check_sort(numbers<T>(axis, ++seed, true), dtype_of<T>, axis, k);
  }
}

TEST_CASE("CUDA sorts bool, and nothing") {
  const AxisPlan axis{2, 300, 1};
  std::vector<uint8_t> values = numbers<uint8_t>(axis, 1, false);
  for (uint8_t& value : values) value &= 1;
  check_sort(values, kBool, axis, 300);
  check_sort(values, kBool, axis, 0);
}

namespace {

template <class T, class Sum>
void check_weights(const std::vector<int64_t>& values, int64_t bins, double relative) {
  std::vector<T> weights(values.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<T>(static_cast<float>(i % 13) - (std::is_unsigned_v<T> ? 0.0f : 5.0f));
  }
  Twin<int64_t> in(values);
  Twin<T> weight(weights);
  Twin<Sum> counts(static_cast<size_t>(bins));
  const auto count = static_cast<int64_t>(values.size());
  require_ok(cpu_table().bincount(counts.host(), in.host(), weight.host(), dtype_of<T>, count, bins,
                                  stream_for(kCPU)));
  require_ok(cuda_table().bincount(counts.device(), in.device(), weight.device(), dtype_of<T>,
                                   count, bins, cuda_stream()));
  INFO("bins " << bins << " dtype " << static_cast<int>(dtype_of<T>));
  check_close(counts, relative, relative);
}

}  // namespace

TEST_CASE("CUDA counts into bins as the CPU") {
  std::mt19937 random(3);
  for (const int64_t bins : {1, 10, 5000}) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{100}, size_t{5000}}) {
      std::vector<int64_t> values(count);
      for (int64_t& value : values) value = static_cast<int64_t>(random()) % bins;
      Twin<int64_t> in(values), counts(static_cast<size_t>(bins));
      require_ok(cpu_table().bincount(counts.host(), in.host(), nullptr, kLong,
                                      static_cast<int64_t>(count), bins, stream_for(kCPU)));
      require_ok(cuda_table().bincount(counts.device(), in.device(), nullptr, kLong,
                                       static_cast<int64_t>(count), bins, cuda_stream()));
      INFO("bins " << bins << " count " << count);
      check_equal(counts);
      check_weights<float, float>(values, bins, 1e-6);
      if (count != 100) continue;
      check_weights<double, double>(values, bins, 1e-13);
      if (bins != 10) continue;
      check_weights<Half, double>(values, bins, 1e-13);
      check_weights<BFloat16, double>(values, bins, 1e-13);
      check_weights<int64_t, double>(values, bins, 1e-13);
      check_weights<int32_t, double>(values, bins, 1e-13);
      check_weights<int16_t, double>(values, bins, 1e-13);
      check_weights<int8_t, double>(values, bins, 1e-13);
      check_weights<uint8_t, double>(values, bins, 1e-13);
    }
  }
}

TEST_CASE("CUDA reports a value that has no bin, and counts the others") {
  for (const bool weighted : {false, true}) {
    for (const int64_t bins : {4, 5000}) {
      for (const int64_t wrong : {int64_t{-1}, bins}) {
        INFO("bins " << bins << " value " << wrong << (weighted ? " weighted" : ""));
        cuda::DeviceFault* const fault = cuda::fault_of(cuda_stream());
        cuda::DeviceFault found{};
        wait();
        REQUIRE(cudaMemcpy(fault, &found, sizeof found, cudaMemcpyHostToDevice) == cudaSuccess);
        Twin<int64_t> in(std::vector<int64_t>{1, wrong, 3, 1});
        Twin<double> weights(4, 1.0), sums(static_cast<size_t>(bins));
        Twin<int64_t> counts(static_cast<size_t>(bins));
        void* const to = weighted ? static_cast<void*>(sums.device()) : counts.device();
        require_ok(cuda_table().bincount(to, in.device(), weighted ? weights.device() : nullptr,
                                         weighted ? kDouble : kLong, 4, bins, cuda_stream()));
        wait();
        REQUIRE(cudaMemcpy(&found, fault, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(found.state != 0);
        CHECK(found.op == std::string(kTestOp));
        CHECK(found.value == wrong);
        CHECK(found.limit == bins);
        if (weighted) {
          sums.host()[1] = 2;
          sums.host()[3] = 1;
          check_equal(sums);
        } else {
          counts.host()[1] = 2;
          counts.host()[3] = 1;
          check_equal(counts);
        }
        found = {};
        REQUIRE(cudaMemcpy(fault, &found, sizeof found, cudaMemcpyHostToDevice) == cudaSuccess);
      }
    }
  }
}
