#include "values.h"

using namespace cuda_tests;

namespace {

struct Shape {
  int64_t batch, channels, inner;
};

template <class T>
void compare(const Shape& shape, bool training, bool affine, bool running, double offset = 0) {
  using C = StatisticsOf<T>;
  const auto [batch, channels, inner] = shape;
  INFO(batch << " x " << channels << " x " << inner << ", training " << training << ", affine "
             << affine << ", running " << running);
  const int64_t count = batch * channels * inner;
  Twin<T> in(numbers<T>(count, 21, offset - 2, offset + 3)), out(in.size());
  Twin<T> weight(numbers<T>(channels, 22)), bias(numbers<T>(channels, 23));
  Twin<C> mean(static_cast<size_t>(channels)), rstd(static_cast<size_t>(channels));
  Twin<C> running_mean(numbers<C>(channels, 24)), running_var(numbers<C>(channels, 25, 0.5, 2));
  const auto args = [&](bool device) {
    return BatchNormArgs{dtype_of<T>,
                         batch,
                         channels,
                         inner,
                         1e-5,
                         affine ? side(weight, device) : nullptr,
                         affine ? side(bias, device) : nullptr};
  };
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.batch_norm_forward(side(out, device), side(mean, device), side(rstd, device),
                                    running ? side(running_mean, device) : nullptr,
                                    running ? side(running_var, device) : nullptr, 0.1, training,
                                    side(in, device), args(device), stream);
  });
  const double exact = 4 * tolerance<C>() * (1 + offset);
  check_close(mean, exact, exact);
  check_close(rstd, exact, exact);
  check_close(running_mean, exact, exact);
  check_close(running_var, exact, exact);
  check_close(out, 2 * tolerance<T>(), tolerance<T>() + 4 * exact);
  mean.upload();
  rstd.upload();

  Twin<T> grad(numbers<T>(count, 26)), grad_in(in.size());
  Twin<T> grad_weight(weight.size()), grad_bias(bias.size());
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.batch_norm_backward(
        side(grad_in, device), affine ? side(grad_weight, device) : nullptr,
        affine ? side(grad_bias, device) : nullptr, side(grad, device), side(in, device),
        side(mean, device), side(rstd, device), training, args(device), stream);
  });
  check_close(grad_in, 2 * tolerance<T>(), tolerance<T>() + exact);
  const double sums = 4 * tolerance<C>() * static_cast<double>(batch * inner);
  check_close(grad_weight, 2 * tolerance<T>(), sums);
  check_close(grad_bias, 2 * tolerance<T>(), sums);
}

}  // namespace

TEMPLATE_TEST_CASE("batch norm on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  for (const bool training : {true, false}) {
    for (const Shape& shape : {Shape{2, 3, 1},
                               {4, 1, 2},
                               {5, 3, 7},
                               {3, 4, 16},
                               {1, 2, 5000},
                               {70, 33, 1},
                               {200, 40, 1},
                               {9, 2, 700},
                               {2, 300, 4}}) {
      compare<TestType>(shape, training, true, true);
    }
    compare<TestType>({4, 5, 6}, training, false, true);
  }
  compare<TestType>({4, 5, 6}, true, true, false);
}

TEST_CASE("batch norm far from zero keeps its digits") {
  compare<float>({3, 4, 3000}, true, true, true, 300);
  compare<float>({700, 5, 1}, true, true, true, 300);
}

TEST_CASE("the gradients of batch norm may be unwanted") {
  Twin<float> in(numbers<float>(24, 27)), grad(numbers<float>(24, 28)), grad_bias(2);
  Twin<float> mean(2), rstd(2, 1.f);
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.batch_norm_backward(nullptr, nullptr, side(grad_bias, device), side(grad, device),
                                     side(in, device), side(mean, device), side(rstd, device), true,
                                     {kFloat, 3, 2, 4, 1e-5, nullptr, nullptr}, stream);
  });
  check_close(grad_bias, 1e-6);
}
