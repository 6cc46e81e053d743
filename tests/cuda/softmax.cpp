#include <limits>

#include "values.h"

using namespace cuda_tests;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Sizes about the edges of 8 lanes, a warp, a block and registers; then other dimensions.
const AxisPlan kAxes[] = {
    {0, 3, 1},   {3, 0, 1},    {3, 1, 1},    {70, 7, 1},   {33, 10, 1},  {9, 32, 1},
    {4, 33, 1},  {5, 64, 1},   {2, 128, 1},  {3, 129, 1},  {2, 255, 1},  {2, 512, 1},
    {2, 516, 1}, {3, 1024, 1}, {2, 1028, 1}, {1, 4096, 1}, {2, 4099, 1}, {1, 9000, 1},
    {2, 5, 3},   {1, 40, 33},  {3, 1, 7},    {2, 70, 64},
};

template <class T>
void compare(const AxisPlan& axis, bool log, int64_t shift, std::vector<T> input) {
  INFO("axis " << axis.outer << " x " << axis.size << " x " << axis.inner << ", log " << log
               << ", shift " << shift);
  const auto count = static_cast<int64_t>(input.size());
  const SoftmaxArgs args{dtype_of<T>, axis, log};
  Twin<T> in(input), out(input.size()), grad(numbers<T>(count, 5)), grad_in(input.size());
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.softmax_forward(side(out, device, shift), side(in, device, shift), args, stream);
  });
  check_close(out, tolerance<T>(), log ? tolerance<T>() : tolerance<T>() / 100);
  out.upload();  // the same result into both backwards
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.softmax_backward(side(grad_in, device, shift), side(grad, device, shift),
                                  side(out, device, shift), args, stream);
  });
  check_close(grad_in, tolerance<T>(), 2 * tolerance<T>());
}

}  // namespace

TEMPLATE_TEST_CASE("softmax on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  for (const bool log : {false, true}) {
    for (const AxisPlan& axis : kAxes) {
      const int64_t count = axis.outer * axis.size * axis.inner;
      compare(axis, log, 0, numbers<TestType>(count, 3, -6, 6));
    }
  }
}

TEMPLATE_TEST_CASE("softmax takes rows that no pack is aligned to", "", TAPER_FLOATING_TYPES) {
  for (const int64_t size : {8, 64, 1024, 8448}) {
    compare<TestType>({3, size, 1}, false, 1, numbers<TestType>(3 * size + 1, 4));
  }
}

TEMPLATE_TEST_CASE("softmax of infinities and NaN", "", float, Half) {
  using T = TestType;
  for (const AxisPlan axis : {AxisPlan{6, 40, 1}, {6, 9, 1}, {6, 8400, 1}, {6, 40, 3}}) {
    std::vector<T> x = numbers<T>(axis.outer * axis.size * axis.inner, 6);
    const auto at = [&](int64_t row, int64_t i) -> T& {
      return x[static_cast<size_t>((row * axis.size + i) * axis.inner)];
    };
    for (int64_t i = 0; i < axis.size; ++i) at(1, i) = static_cast<T>(static_cast<float>(-kInf));
    for (int64_t i = 0; i + 1 < axis.size; ++i) {
      at(2, i) = static_cast<T>(static_cast<float>(-kInf));  // masked but for the last
    }
    at(3, 5) = static_cast<T>(static_cast<float>(kInf));
    at(4, 0) = static_cast<T>(static_cast<float>(kNan));
    at(5, axis.size - 1) = static_cast<T>(static_cast<float>(kNan));
    for (const bool log : {false, true}) compare(axis, log, 0, x);
  }
}

TEST_CASE("softmax of large numbers does not overflow") {
  std::vector<float> x = numbers<float>(4 * 300, 7, 80, 9000);
  compare<float>({4, 300, 1}, false, 0, x);
  compare<float>({2, 20, 30}, true, 0, x);
}
