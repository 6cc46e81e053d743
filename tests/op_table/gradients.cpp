#include "op_table/gradients.h"

#include "op_table/compare.h"
#include "taper/autograd/autograd.h"
#include "taper/autograd/gradcheck.h"

namespace op_table {
namespace {

class GradientTest {
 public:
  GradientTest(const Row& row, const Case& c) : row_(row), case_(c) {}

  std::vector<std::pair<std::string, std::string>> run() {
    guard("gradient", [&] { compare("gradient", gradients(Layout::kContiguous, false)); });
    if (row_.options.layouts) {
      guard("gradient", [&] {
        compare("gradient for transposed inputs", gradients(Layout::kTransposed, false));
      });
    }
    guard("gradient in place",
          [&] { compare("gradient in place", gradients(Layout::kContiguous, true)); });
    guard("expanded gradient", [&] { expanded(); });
    // Finite differences take a run per element: on the small shape only.
    if (case_.tag == "gradient" && first_differentiable() == kDouble && row_.gradients >= once) {
      guard("gradcheck", [&] { autograd::gradcheck(function(), leaves()); });
      if (row_.gradients == twice) {
        guard("gradgradcheck", [&] { autograd::gradgradcheck(function(), leaves()); });
      }
    }
    return std::move(failures_);
  }

 private:
  template <class Body>
  void guard(const char* what, Body body) {
    try {
      body();
    } catch (const std::exception& error) {
      failures_.emplace_back(what, error.what());
    }
  }

  ScalarType first_differentiable() const {
    for (const Recipe& recipe : case_.inputs) {
      if (!recipe.constant) return recipe.dtype;
    }
    return ScalarType::Undefined;
  }

  Inputs inputs(Layout layout) const {
    Inputs result;
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      const Recipe& recipe = case_.inputs[i];
      result[i] = lay_out(recipe.values(), recipe.sizes, recipe.dtype, layout);
    }
    return result;
  }

  // Where the row has no in-place form: nothing.
  Outputs gradients(Layout layout, bool in_place) const {
    Inputs in = inputs(layout);
    Outputs wanted;
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      if (!case_.inputs[i].constant) wanted.push_back(in[i].requires_grad_(true));
    }
    Outputs outputs;
    if (in_place) {
      if (case_.inputs[0].constant || case_.outputs[0].sizes != case_.inputs[0].sizes) return {};
      Inputs changed = in;
      changed[0] = in[0].clone();
      if (!row_.run_inplace(changed)) return {};
      outputs = {changed[0]};
    } else {
      outputs = row_.run(in);
    }
    Outputs roots, weights;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].is_floating_point() || !outputs[i].requires_grad()) continue;
      // In the case's dtype, as generate.py makes them, whatever dtype the output has.
      const Recipe weight{first_differentiable(), outputs[i].sizes().vec(), "real", 90 + i, true};
      roots.push_back(outputs[i]);
      weights.push_back(support::make(weight.values(), weight.sizes, outputs[i].scalar_type()));
    }
    return autograd::grad(roots, wanted, weights, std::nullopt, false, true);
  }

  void compare(const char* what, const Outputs& got) {
    for (size_t i = 0; i < got.size(); ++i) {
      const Stored& expected = case_.gradients[i];
      const std::string name = std::string(what) + " " + std::to_string(i);
      if (expected.dtype == ScalarType::Undefined) {
        // Nothing depends on it: undefined, or zeros.
        if (got[i].defined() && !support::near(got[i], std::vector<double>(got[i].numel()), 0)) {
          failures_.emplace_back(name, "expected none, got " + support::text(got[i]));
        }
        continue;
      }
      const std::string wrong = difference(
          got[i], expected, gradient_tolerance(expected.dtype, case_.scale, row_.options));
      if (!wrong.empty()) failures_.emplace_back(name, wrong);
    }
  }

  // The gradient of a plain sum arrives with stride 0 everywhere.
  void expanded() {
    std::vector<Outputs> both;
    for (const bool expand : {false, true}) {
      Inputs in = inputs(Layout::kContiguous);
      Outputs wanted, roots, ones;
      for (size_t i = 0; i < case_.inputs.size(); ++i) {
        if (!case_.inputs[i].constant) wanted.push_back(in[i].requires_grad_(true));
      }
      for (const Tensor& out : row_.run(in)) {
        if (!out.is_floating_point() || !out.requires_grad()) continue;
        const Sizes sizes = out.sizes().vec(), zero(sizes.size(), 0);
        const std::vector<double> values(static_cast<size_t>(out.numel()), 1.0);
        roots.push_back(out);
        ones.push_back(support::make(values, sizes, out.scalar_type(), expand ? &zero : nullptr));
      }
      both.push_back(autograd::grad(roots, wanted, ones, std::nullopt, false, true));
    }
    for (size_t i = 0; i < both[0].size(); ++i) {
      if (!both[0][i].defined()) continue;
      const Stored expected{both[0][i].scalar_type(), both[0][i].sizes().vec(),
                            support::values(both[0][i])};
      const std::string wrong = difference(
          both[1][i], expected, gradient_tolerance(expected.dtype, case_.scale, row_.options));
      if (!wrong.empty()) failures_.emplace_back("expanded gradient " + std::to_string(i), wrong);
    }
  }

  // gradcheck's view of the row: all inputs in, floating outputs out.
  autograd::GradcheckFunction function() const {
    return [this](const Outputs& tensors) {
      Inputs in;
      for (size_t i = 0; i < tensors.size(); ++i) in[i] = tensors[i];
      return row_.run(in);
    };
  }

  Outputs leaves() const {
    Outputs result;
    const Inputs in = inputs(Layout::kContiguous);
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      Tensor leaf = in[i];
      if (!case_.inputs[i].constant) leaf.requires_grad_(true);
      result.push_back(leaf);
    }
    return result;
  }

  const Row& row_;
  const Case& case_;
  std::vector<std::pair<std::string, std::string>> failures_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> check_gradients(const Row& row, const Case& c) {
  return GradientTest(row, c).run();
}

}  // namespace op_table
