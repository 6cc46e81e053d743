#include "taper/nn/init.h"

#include <algorithm>
#include <cmath>

#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"

namespace taper::nn::init {

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (std::holds_alternative<enumtype::kTanh>(nonlinearity)) return 5.0 / 3.0;
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) return std::sqrt(2.0);
  if (std::holds_alternative<enumtype::kLeakyReLU>(nonlinearity)) {
    return std::sqrt(2.0 / (1 + param * param));
  }
  return 1.0;
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  TAPER_CHECK(
      tensor.dim() >= 2,
      "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got shape ",
      tensor.sizes());
  int64_t kernel = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) kernel *= tensor.size(d);
  return {tensor.size(1) * kernel, tensor.size(0) * kernel};
}

namespace {

double kaiming_std(const Tensor& tensor, double a, FanModeType mode,
                   NonlinearityType nonlinearity) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  const double fan =
      static_cast<double>(std::holds_alternative<enumtype::kFanIn>(mode) ? fan_in : fan_out);
  return calculate_gain(nonlinearity, a) / std::sqrt(fan);
}

double xavier_std(const Tensor& tensor, double gain) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

}  // namespace

Tensor constant_(Tensor tensor, Scalar value) {
  const NoGradGuard guard;
  return tensor.fill_(value);
}
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor eye_(Tensor matrix) {
  const NoGradGuard guard;
  TAPER_CHECK(matrix.dim() == 2, "Only tensors with 2 dimensions are supported, got shape ",
              matrix.sizes());
  matrix.zero_();
  matrix.diagonal().fill_(1);
  return matrix;
}

Tensor dirac_(Tensor tensor) {
  const NoGradGuard guard;
  TAPER_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5,
              "Only tensors with 3, 4, or 5 dimensions are supported, got shape ", tensor.sizes());
  tensor.zero_();
  for (int64_t i = 0; i < std::min(tensor.size(0), tensor.size(1)); ++i) {
    Tensor centre = tensor[i][i];
    while (centre.dim() > 0) centre = centre[centre.size(0) / 2];
    centre.fill_(1);
  }
  return tensor;
}

namespace {

// The columns of `a` made orthonormal, each from those before it: the Q of its QR decomposition
// with a positive diagonal. Blocks of columns, so that nearly all the work is matrix products;
// every projection is taken off twice, for the first leaves rounding errors behind.
Tensor orthonormal_columns(const Tensor& a) {
  constexpr int64_t kBlock = 32;
  const Tensor q = a.to(kDouble, /*non_blocking=*/false, /*copy=*/true);
  for (int64_t start = 0; start < q.size(1); start += kBlock) {
    const int64_t width = std::min(kBlock, q.size(1) - start);
    const Tensor before = q.narrow(1, 0, start), block = q.narrow(1, start, width);
    for (int pass = 0; pass < 2 && start > 0; ++pass) {
      block.sub_(before.matmul(before.t().matmul(block)));
    }
    for (int64_t i = 0; i < width; ++i) {
      const Tensor done = block.narrow(1, 0, i), column = block.select(1, i);
      for (int pass = 0; pass < 2 && i > 0; ++pass) {
        column.sub_(done.matmul(done.t().matmul(column)));
      }
      column.div_(column.norm());
    }
  }
  return q;
}

}  // namespace

Tensor orthogonal_(Tensor tensor, double gain) {
  const NoGradGuard guard;
  TAPER_CHECK(tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported, got shape ",
              tensor.sizes());
  if (tensor.numel() == 0) return tensor;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor random = taper::randn({rows, columns}, tensor.options());
  if (rows < columns) random = random.t();
  Tensor q = orthonormal_columns(random);
  if (rows < columns) q = q.t();
  return tensor.copy_(q.reshape(tensor.sizes())).mul_(gain);
}

Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard guard;
  return tensor.normal_(mean, std);
}
Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard guard;
  return tensor.uniform_(low, high);
}

namespace {

// Without inputs or outputs the bounds would be infinite; there is nothing to draw either.
bool has_no_elements(const Tensor& tensor) { return tensor.dim() >= 2 && tensor.numel() == 0; }

}  // namespace

Tensor xavier_normal_(Tensor tensor, double gain) {
  if (has_no_elements(tensor)) return tensor;
  const double std = xavier_std(tensor, gain);
  return normal_(std::move(tensor), 0.0, std);
}
Tensor xavier_uniform_(Tensor tensor, double gain) {
  if (has_no_elements(tensor)) return tensor;
  const double bound = std::sqrt(3.0) * xavier_std(tensor, gain);
  return uniform_(std::move(tensor), -bound, bound);
}
Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (has_no_elements(tensor)) return tensor;
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0.0, std);
}
Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (has_no_elements(tensor)) return tensor;
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity);
  return uniform_(std::move(tensor), -bound, bound);
}

}  // namespace taper::nn::init
