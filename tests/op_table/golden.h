#pragma once

#include <map>
#include <string>
#include <vector>

#include "op_table/recipe.h"

namespace op_table {

/// A stored tensor.
struct Stored {
  ScalarType dtype = ScalarType::Undefined;  ///< Undefined: PyTorch gave none (an unused gradient)
  Sizes sizes;
  std::vector<double> values;
};

/// One case: inputs, and what PyTorch made of them.
struct Case {
  enum class Outcome { kValues, kError, kUnsupported };

  std::string words;  ///< the inputs as they stand in the file
  std::string tag;    ///< dtypes, shapes, special, gradient, gradient_large
  std::vector<Recipe> inputs;
  Outcome outcome = Outcome::kValues;
  std::string message;  ///< the beginning of PyTorch's, where it refuses
  double scale = 0;     ///< sum of the magnitudes that were added up
  std::vector<Stored> outputs;
  std::vector<Stored> gradients;  ///< for inputs that are not constant

  bool has_gradients() const { return tag.rfind("gradient", 0) == 0; }
};

struct GoldenRow {
  bool elementwise = false;
  std::vector<Case> cases;
};

/// The rows of tests/golden/NAME.txt by their call; written by tests/golden/generate.py.
const std::map<std::string, GoldenRow>& golden(const std::string& name);

}  // namespace op_table
