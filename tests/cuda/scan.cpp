#include <cmath>
#include <limits>
#include <random>

#include "support.h"

// Running sums, products, extremes and log-sum-exps: rows of lanes, warps, blocks and chunks;
// columns, few and many.

using namespace cuda_tests;

namespace {

template <class T>
constexpr bool floating = is_floating_point(dtype_of<T>);
template <class T>
constexpr double tolerance = std::is_same_v<T, double>     ? 1e-13
                             : std::is_same_v<T, float>    ? 1e-6
                             : std::is_same_v<T, Half>     ? 2e-3
                             : std::is_same_v<T, BFloat16> ? 1.6e-2
                                                           : 0;

template <class T>
std::vector<T> numbers(const AxisPlan& axis, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<T> values(static_cast<size_t>(axis.outer * axis.size * axis.inner));
  for (T& value : values) {
    if constexpr (floating<T>)
      value = T(static_cast<float>(random() % 2001) / 1000.0f - 1.0f);
    else
      value = static_cast<T>(random() % 19 - (std::is_signed_v<T> ? 9 : 0));
  }
  return values;
}

template <class T>
void check_scan(ScanOp op, const std::vector<T>& values, ScalarType type, const AxisPlan& axis,
                double relative) {
  Twin<T> in(values), out(values.size());
  const bool positions = op == ScanOp::kMax || op == ScanOp::kMin;
  Twin<int64_t> at(positions ? values.size() : 0);
  require_ok(cpu_table().scan(op, out.host(), positions ? at.host() : nullptr, in.host(), type,
                              axis, stream_for(kCPU)));
  require_ok(cuda_table().scan(op, out.device(), positions ? at.device() : nullptr, in.device(),
                               type, axis, cuda_stream()));
  INFO("op " << static_cast<int>(op) << " dtype " << static_cast<int>(type) << " [" << axis.outer
             << ", " << axis.size << ", " << axis.inner << "]");
  if constexpr (floating<T>)
    check_close(out, relative, relative);
  else
    check_equal(out);
  check_equal(at);
}

const std::vector<AxisPlan> kAxes = {
    {1, 1, 1},     {0, 3, 1},   {2, 0, 3},   {40, 5, 1},   {3, 17, 1},
    {9, 128, 1},   {2, 256, 1}, {3, 257, 1}, {2, 2051, 1}, {1, 9000, 1},
    {2, 12288, 1}, {1, 7, 300}, {4, 33, 10}, {3, 2, 128},  {1, 900, 3},
};

}  // namespace

TEMPLATE_TEST_CASE("CUDA scans agree with the CPU's", "", float, double, Half, BFloat16, int64_t,
                   int32_t, int16_t, int8_t, uint8_t) {
  using T = TestType;
  int seed = 0;
  for (const AxisPlan& axis : kAxes) {
    if (!std::is_same_v<T, float> && !std::is_same_v<T, int8_t> && axis.size > 3000) continue;
    const std::vector<T> values = numbers<T>(axis, ++seed);
    check_scan(ScanOp::kSum, values, dtype_of<T>, axis, 8 * tolerance<T>);
    check_scan(ScanOp::kProd, values, dtype_of<T>, axis, 8 * tolerance<T>);
    check_scan(ScanOp::kMax, values, dtype_of<T>, axis, 0);
    check_scan(ScanOp::kMin, values, dtype_of<T>, axis, 0);
    if constexpr (floating<T>) {
      check_scan(ScanOp::kLogSumExp, values, dtype_of<T>, axis, 4 * tolerance<T>);
    }
  }
}

TEST_CASE("CUDA scans of NaN and infinity") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const AxisPlan& axis : {AxisPlan{3, 1300, 1}, AxisPlan{2, 50, 4}, AxisPlan{1, 9000, 1}}) {
    for (const float special : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> values = numbers<float>(axis, 3);
      for (size_t i = 40; i < values.size(); i += 401) values[i] = special;
      for (const ScanOp op :
           {ScanOp::kSum, ScanOp::kProd, ScanOp::kMax, ScanOp::kMin, ScanOp::kLogSumExp}) {
        check_scan(op, values, kFloat, axis, 1e-5);
      }
    }
    const std::vector<float> lowest(static_cast<size_t>(axis.outer * axis.size * axis.inner),
                                    -kInfinity);
    check_scan(ScanOp::kLogSumExp, lowest, kFloat, axis, 0);
    check_scan(ScanOp::kMax, lowest, kFloat, axis, 0);
  }
}

TEST_CASE("CUDA scans of bool") {
  for (const AxisPlan& axis : {AxisPlan{3, 300, 1}, AxisPlan{2, 50, 4}}) {
    std::vector<uint8_t> values = numbers<uint8_t>(axis, 5);
    for (uint8_t& value : values) value = value > 16;
    for (const ScanOp op : {ScanOp::kSum, ScanOp::kProd, ScanOp::kMax, ScanOp::kMin}) {
      check_scan(op, values, kBool, axis, 0);
      for (uint8_t& value : values) value ^= 1;
    }
  }
}

TEST_CASE("a CUDA scan may overwrite its input, and takes a misaligned one") {
  const AxisPlan axis{2, 9000, 1};
  std::vector<float> values = numbers<float>(axis, 9);
  values.push_back(0);
  Twin<float> in(values);
  require_ok(cpu_table().scan(ScanOp::kSum, in.host() + 1, nullptr, in.host() + 1, kFloat, axis,
                              stream_for(kCPU)));
  require_ok(cuda_table().scan(ScanOp::kSum, in.device() + 1, nullptr, in.device() + 1, kFloat,
                               axis, cuda_stream()));
  check_close(in, 1e-5, 1e-5);
}
