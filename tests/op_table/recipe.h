#pragma once

#include <string>
#include <vector>

#include "support/tensors.h"

namespace op_table {

using support::ScalarType;
using support::Sizes;
using support::Tensor;

/// How elements lie in memory.
enum class Layout { kContiguous, kTransposed, kStepped };

/// An input in words: `f32[2,3]:real:7` is shape, domain, seed; `!` behind it asks for no gradient.
/// The values are those of tests/golden/recipes.py, bit for bit.
struct Recipe {
  ScalarType dtype = taper::kFloat;
  Sizes sizes;
  std::string domain = "real";
  uint64_t seed = 0;
  bool constant = false;

  static Recipe parse(const std::string& words);
  std::vector<double> values() const;
};

ScalarType dtype_named(const std::string& name);

Tensor lay_out(const std::vector<double>& elements, const Sizes& sizes, ScalarType dtype,
               Layout layout);

}  // namespace op_table
