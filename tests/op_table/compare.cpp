#include "op_table/compare.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace op_table {
namespace {

double unit(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return 0x1p-52;
    case kFloat:
      return 0x1p-23;
    case kHalf:
      return 0x1p-10;
    case kBFloat16:
      return 0x1p-7;
    default:
      return 0;
  }
}

// Infinities and NaN must be met exactly; so must integers, whose tolerance is 0.
bool close(double got, double expected, const Tolerance& tolerance, double largest) {
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return true;
  if (std::isinf(expected) || !std::isfinite(got)) return false;
  return std::abs(got - expected) <= tolerance.relative * std::abs(expected) +
                                         tolerance.normwise * largest + tolerance.absolute;
}

}  // namespace

Tolerance value_tolerance(ScalarType dtype, double scale, const Options& options) {
  switch (dtype) {
    case kDouble:  // 1e-12 as promised to users, though most functions reach 1e-15
      return {1e-12 * options.looser_double, 1e-14 * options.looser_double + 1e-14 * scale, 0};
    case kFloat:  // 4 units in the last place; near zero half a unit of 1; sums 1e-6 of what they
                  // add
      return {4 * unit(kFloat) * options.looser, 0.5e-7 * options.looser + 1e-6 * scale, 0};
    case kHalf:
    case kBFloat16:  // computed in float and rounded once: one unit
      return {unit(dtype) * options.looser_half, 1e-7 * options.looser_half + 1e-6 * scale,
              options.apart_on_cuda && support::device().is_cuda() ? unit(dtype) : 0};
    default:
      return {};
  }
}

Tolerance gradient_tolerance(ScalarType dtype, double scale, const Options& options) {
  Tolerance tolerance = value_tolerance(dtype, scale, options);
  const bool half = is_reduced_floating_point(dtype);
  const double units = 4 * unit(dtype) * (half ? options.looser_half : options.looser);
  tolerance.relative *= 4;
  tolerance.normwise = dtype == kDouble ? 1e-13 : units;
  return tolerance;
}

std::string difference(const Tensor& got, const Stored& expected, const Tolerance& tolerance) {
  std::ostringstream out;
  if (!got.defined()) return "the result is undefined";
  if (got.scalar_type() != expected.dtype) {
    out << "dtype is " << dtype_name(got.scalar_type()) << ", expected "
        << dtype_name(expected.dtype);
    return out.str();
  }
  if (got.sizes().vec() != expected.sizes) {
    out << "shape is " << support::text(got.sizes().vec()) << ", expected "
        << support::text(expected.sizes);
    return out.str();
  }
  double largest = 0;
  for (const double value : expected.values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const std::vector<double> values = support::values(got);
  size_t wrong = 0, first = 0;
  for (size_t i = values.size(); i-- > 0;) {
    if (close(values[i], expected.values[i], tolerance, largest)) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return "";
  out.precision(17);
  out << wrong << " of " << values.size() << " elements differ; element " << first << " is "
      << values[first] << ", expected " << expected.values[first];
  return out.str();
}

std::string difference(const Outputs& got, const Case& expected, const Options& options) {
  if (got.size() != expected.outputs.size()) {
    return std::to_string(got.size()) + " results, expected " +
           std::to_string(expected.outputs.size());
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const Stored& stored = expected.outputs[i];
    const std::string wrong =
        difference(got[i], stored, value_tolerance(stored.dtype, expected.scale, options));
    if (!wrong.empty()) return (got.size() > 1 ? "result " + std::to_string(i) + ": " : "") + wrong;
  }
  return "";
}

}  // namespace op_table
