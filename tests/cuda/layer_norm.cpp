#include "values.h"

using namespace cuda_tests;

namespace {

template <class T>
void compare(int64_t rows, int64_t size, bool weight, bool bias, int64_t shift = 0,
             double offset = 0) {
  using C = StatisticsOf<T>;
  INFO(rows << " rows of " << size << ", weight " << weight << ", bias " << bias << ", shift "
            << shift);
  const int64_t count = rows * size + shift;
  Twin<T> in(numbers<T>(count, 11, offset - 2, offset + 3)), out(in.size());
  Twin<T> w(numbers<T>(size, 12)), b(numbers<T>(size, 13));
  Twin<C> mean(static_cast<size_t>(rows)), rstd(static_cast<size_t>(rows));
  const auto args = [&](bool device) {
    return LayerNormArgs{dtype_of<T>,
                         rows,
                         size,
                         1e-5,
                         weight ? side(w, device) : nullptr,
                         bias ? side(b, device) : nullptr};
  };
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.layer_norm_forward(side(out, device, shift), side(mean, device),
                                    side(rstd, device), side(in, device, shift), args(device),
                                    stream);
  });
  const double exact = 4 * tolerance<C>() * (1 + offset);
  check_close(mean, exact, exact);
  check_close(rstd, exact, exact);
  check_close(out, 2 * tolerance<T>(), tolerance<T>() + 4 * exact);
  mean.upload();
  rstd.upload();

  Twin<T> grad(numbers<T>(count, 14)), grad_in(in.size());
  Twin<T> grad_weight(static_cast<size_t>(size)), grad_bias(static_cast<size_t>(size));
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.layer_norm_backward(
        side(grad_in, device, shift), weight ? side(grad_weight, device) : nullptr,
        bias ? side(grad_bias, device) : nullptr, side(grad, device, shift),
        side(in, device, shift), side(mean, device), side(rstd, device), args(device), stream);
  });
  check_close(grad_in, 2 * tolerance<T>(), tolerance<T>() + exact);
  const double sums = 4 * tolerance<C>() * static_cast<double>(rows);
  check_close(grad_weight, 2 * tolerance<T>(), sums);
  check_close(grad_bias, 2 * tolerance<T>(), sums);
}

}  // namespace

TEMPLATE_TEST_CASE("layer norm on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  for (const auto& [rows, size] : {std::pair<int64_t, int64_t>{0, 4},
                                   {3, 0},
                                   {5, 1},
                                   {70, 7},
                                   {9, 32},
                                   {4, 65},
                                   {3, 128},
                                   {2, 515},
                                   {3, 1024},
                                   {2, 4096},
                                   {2, 4100},
                                   {1, 9001},
                                   {200, 33}}) {
    compare<TestType>(rows, size, true, true);
  }
  compare<TestType>(6, 48, false, false);
  compare<TestType>(6, 48, true, false);
  compare<TestType>(2, 8800, false, true);
}

TEMPLATE_TEST_CASE("layer norm takes rows that no pack is aligned to", "", TAPER_FLOATING_TYPES) {
  for (const int64_t size : {8, 512, 8448}) compare<TestType>(2, size, true, true, 1);
}

TEST_CASE("layer norm far from zero keeps its digits") {
  compare<float>(4, 1000, true, true, 0, 300);
  compare<float>(2, 9000, true, true, 0, 300);
}

TEMPLATE_TEST_CASE("the bias's gradient of many rows of halves is exact", "", Half, BFloat16) {
  // 2,048 and 256 are where a sum of ones in Half and in BFloat16 stands still.
  constexpr int64_t kRows = 8192, kSize = 3;
  Twin<TestType> in(numbers<TestType>(kRows * kSize, 15)), grad(in.size(), TestType(1.f));
  Twin<float> mean(kRows), rstd(kRows, 1.f);
  Twin<TestType> grad_bias(kSize);
  require_ok(cuda_table().layer_norm_backward(
      nullptr, nullptr, grad_bias.device(), grad.device(), in.device(), mean.device(),
      rstd.device(), {dtype_of<TestType>, kRows, kSize, 1e-5, nullptr, nullptr}, cuda_stream()));
  for (const TestType x : grad_bias.download()) CHECK(static_cast<float>(x) == 8192);
}
