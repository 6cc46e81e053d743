#pragma once

#include <string>

#include "rows.h"

namespace versus {

/// What came out of a comparison. `difference` and `allowed` are shares of the largest element.
struct Comparison {
  bool agrees = true;
  double difference = 0, allowed = 0;
  std::string problem;  ///< why not, where it is more than the difference
};

/// The CPU's result and the device's.
Comparison compare(const Result& expected, const Result& got, const Tolerance& tolerance);

}  // namespace versus
