#pragma once

#include <string>

#include "op_table/golden.h"
#include "op_table/op_table.h"

namespace op_table {

/// How far a result may be from the exact one.
struct Tolerance {
  double relative = 0;  ///< of the expected element
  double absolute = 0;
  double normwise = 0;  ///< of the largest expected element
};

/// For results of an op. `scale`: the magnitudes that were summed up.
Tolerance value_tolerance(ScalarType dtype, double scale, const Options& options);
/// For gradients, which pass through several ops, rounded after each.
Tolerance gradient_tolerance(ScalarType dtype, double scale, const Options& options);

/// What differs, or "".
std::string difference(const Tensor& got, const Stored& expected, const Tolerance& tolerance);
std::string difference(const Outputs& got, const Case& expected, const Options& options);

}  // namespace op_table
