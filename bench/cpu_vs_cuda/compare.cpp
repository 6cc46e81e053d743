#include "compare.h"

#include <cmath>

namespace versus {

namespace {

// Half a unit in the last place of a number between 1 and 2.
double roundoff(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return 0x1p-53;
    case kHalf:
      return 0x1p-11;
    case kBFloat16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

Comparison compare_units(const Tensor& expected, const Tensor& got, double units) {
  const ScalarType dtype = expected.scalar_type();
  Comparison result;
  result.allowed = units * (dtype == kDouble ? 0x1p-53 : 0x1p-24) + 2 * roundoff(dtype);
  const Tensor wide = expected.to(kDouble);
  const double largest = wide.abs().max().item<double>();
  const double apart = (got.to(kDouble) - wide).abs().max().item<double>();
  result.difference = largest > 0 ? apart / largest : apart;
  result.agrees = result.difference <= result.allowed;  // NaN does not agree
  return result;
}

Comparison compare_moments(const Tensor& expected, const Tensor& got) {
  const Tensor a = expected.to(kDouble), b = got.to(kDouble);
  const double deviation = a.std().item<double>();
  const double mean = std::abs((a.mean() - b.mean()).item<double>());
  const double spread = std::abs(deviation - b.std().item<double>());
  Comparison result;
  result.difference = std::max(mean, spread) / deviation;
  result.allowed = 6 * std::sqrt(2 / static_cast<double>(a.numel()));
  result.agrees = mean == mean && spread == spread && result.difference <= result.allowed;
  return result;
}

Comparison compare_exactly(const Tensor& expected, const Tensor& got) {
  Comparison result;
  if (got.equal(expected)) return result;
  result.agrees = false;
  const Tensor different = got.ne(expected);
  result.problem = std::to_string(different.sum().item<int64_t>()) + " of " +
                   std::to_string(got.numel()) + " elements differ, the first is number " +
                   std::to_string(different.flatten().nonzero()[0].item<int64_t>());
  return result;
}

Comparison compare_one(const Tensor& expected, const Tensor& got, const Tolerance& tolerance) {
  if (expected.sizes() != got.sizes() || expected.scalar_type() != got.scalar_type()) {
    Comparison result;
    result.agrees = false;
    result.problem = "other shapes or dtypes";
    return result;
  }
  switch (tolerance.kind) {
    case Tolerance::Kind::kUnits:
      if (is_floating_point(expected.scalar_type())) {
        return compare_units(expected, got, tolerance.units);
      }
      return compare_exactly(expected, got);
    case Tolerance::Kind::kMoments:
      return compare_moments(expected, got);
    case Tolerance::Kind::kOrder:
      return compare_exactly(std::get<0>(expected.sort()), std::get<0>(got.sort()));
    default:
      return compare_exactly(expected, got);
  }
}

}  // namespace

Comparison compare(const Result& expected, const Result& got, const Tolerance& tolerance) {
  const NoGradGuard no_grad;
  Comparison worst;
  for (size_t k = 0; k < expected.tensors().size(); ++k) {
    const Comparison one =
        compare_one(expected.tensors()[k].detach(), got.tensors().at(k).detach().cpu(), tolerance);
    if (!one.agrees) return one;
    if (one.difference >= worst.difference) worst = one;
  }
  return worst;
}

}  // namespace versus
