#include "taper/autograd/gradcheck.h"

#include <cmath>
#include <string>

#include "taper/autograd/autograd.h"
#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"

namespace taper::autograd {
namespace {

using Tensors = std::vector<Tensor>;

// Private copies, dense; leaves where grad is wanted.
Tensors copies(const Tensors& inputs) {
  NoGradGuard no_grad;
  Tensors result;
  for (const Tensor& input : inputs) {
    result.push_back(input.defined() ? input.detach().contiguous().clone() : Tensor());
  }
  return result;
}

bool is_checked(const Tensor& input) { return input.defined() && input.requires_grad(); }

Tensors differentiable(const GradcheckFunction& fn, const Tensors& inputs) {
  Tensors result;
  for (const Tensor& output : fn(inputs)) {
    if (output.defined() && output.is_floating_point()) result.push_back(output);
  }
  return result;
}

// The elements in row-major order, wherever they lie.
std::vector<double> numbers(const Tensor& tensor) {
  NoGradGuard no_grad;
  const Tensor flat = tensor.to(kDouble).cpu().contiguous();
  const double* data = flat.data_ptr<double>();
  return {data, data + flat.numel()};
}

// Values of all outputs, one behind the other.
std::vector<double> evaluate(const GradcheckFunction& fn, const Tensors& inputs) {
  NoGradGuard no_grad;
  std::vector<double> result;
  for (const Tensor& output : differentiable(fn, inputs)) {
    const std::vector<double> values = numbers(output);
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

// Row-major index of an element: "[1, 2]".
std::string position(int64_t element, IntArrayRef sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = element % sizes[d];
    element /= sizes[d];
  }
  std::string text = "[";
  for (size_t d = 0; d < index.size(); ++d) text += (d ? ", " : "") + std::to_string(index[d]);
  return text + "]";
}

// jacobian[output element][input element], one pass backwards for each output element.
std::vector<std::vector<double>> analytic(const char* name, const GradcheckFunction& fn,
                                          const Tensors& leaves, size_t which) {
  AutoGradMode enable(true);
  std::vector<std::vector<double>> rows;
  const Tensor& input = leaves[which];
  for (const Tensor& output : differentiable(fn, leaves)) {
    for (int64_t i = 0; i < output.numel(); ++i) {
      std::vector<double> row(static_cast<size_t>(input.numel()), 0.0);
      if (output.requires_grad()) {
        Tensor one = zeros(output.sizes(), output.options());
        one.view({-1})[i].fill_(1);
        const Tensor gradient = grad({output}, {input}, {one}, true, false, true)[0];
        if (gradient.defined()) {
          TAPER_CHECK(gradient.sizes() == input.sizes(), name, ": the gradient of input ", which,
                      " has shape ", gradient.sizes(), ", the input ", input.sizes());
          TAPER_CHECK(gradient.scalar_type() == input.scalar_type(), name,
                      ": the gradient of input ", which, " is ", dtype_name(gradient.scalar_type()),
                      ", the input ", dtype_name(input.scalar_type()));
          row = numbers(gradient);
        }
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

bool check(const char* name, const GradcheckFunction& fn, const Tensors& inputs, double eps,
           double atol, double rtol) {
  const Tensors plain = copies(inputs), leaves = copies(inputs);
  bool any = false;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!is_checked(inputs[k])) continue;
    any = true;
    TAPER_CHECK_TYPE(inputs[k].scalar_type() == kDouble, name, ": input ", k, " is ",
                     dtype_name(inputs[k].scalar_type()), "; finite differences need float64");
    leaves[k].set_requires_grad(true);
  }
  TAPER_CHECK_VALUE(any, name, ": none of the ", inputs.size(), " inputs requires grad");

  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!is_checked(inputs[k])) continue;
    const auto jacobian = analytic(name, fn, leaves, k);
    const std::vector<double> values = numbers(plain[k]);
    const Tensor flat = plain[k].view({-1});
    for (int64_t j = 0; j < flat.numel(); ++j) {
      // Set where it lies: one element is one kernel on a device.
      Tensor element = flat[j];
      const double value = values[static_cast<size_t>(j)];
      element.fill_(value + eps);
      const std::vector<double> above = evaluate(fn, plain);
      element.fill_(value - eps);
      const std::vector<double> below = evaluate(fn, plain);
      element.fill_(value);
      TAPER_CHECK(above.size() == jacobian.size(), name, ": the function gave ", jacobian.size(),
                  " values while recording and ", above.size(), " without");
      for (size_t i = 0; i < above.size(); ++i) {
        const double numeric = (above[i] - below[i]) / (2 * eps);
        const double found = jacobian[i][static_cast<size_t>(j)];
        TAPER_CHECK(std::abs(found - numeric) <= atol + rtol * std::abs(numeric), name,
                    ": derivative of output value ", i, " with respect to input ", k, " at ",
                    position(j, plain[k].sizes()), ": analytic ", found, ", numeric ", numeric);
      }
    }
  }
  return true;
}

// Numbers between -1 and 1 without pattern, the same in every run.
Tensor incoming_gradient(const Tensor& output, uint32_t& state) {
  const Tensor result = empty(output.sizes(), TensorOptions(kDouble).device(kCPU));
  double* data = result.data_ptr<double>();
  for (int64_t i = 0; i < result.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = state * 0x1p-31 - 1;
  }
  return result.to(output.options());
}

}  // namespace

bool gradcheck(const GradcheckFunction& fn, const Tensors& inputs, double eps, double atol,
               double rtol) {
  return check("gradcheck", fn, inputs, eps, atol, rtol);
}

bool gradgradcheck(const GradcheckFunction& fn, const Tensors& inputs, double eps, double atol,
                   double rtol) {
  Tensors extended = inputs;
  {
    Tensors leaves = copies(inputs);
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (is_checked(inputs[k])) leaves[k].set_requires_grad(true);
    }
    AutoGradMode enable(true);
    uint32_t state = 1;
    for (const Tensor& output : differentiable(fn, leaves)) {
      Tensor gradient = incoming_gradient(output, state);
      gradient.set_requires_grad(output.requires_grad());
      extended.push_back(gradient);
    }
  }

  // The gradients as a function. The numeric side passes plain tensors, so leaves are made here
  // where needed.
  const GradcheckFunction gradients = [&](const Tensors& given) {
    AutoGradMode enable(true);
    Tensors arguments, wanted, outputs, incoming;
    for (size_t k = 0; k < inputs.size(); ++k) {
      Tensor argument = given[k];
      if (is_checked(inputs[k])) {
        if (!argument.requires_grad()) argument = argument.detach().requires_grad_(true);
        wanted.push_back(argument);
      }
      arguments.push_back(argument);
    }
    size_t next = inputs.size();
    for (const Tensor& output : differentiable(fn, arguments)) {
      const Tensor& gradient = given[next++];
      if (!output.requires_grad()) continue;
      outputs.push_back(output);
      incoming.push_back(gradient);
    }
    Tensors result = grad(outputs, wanted, incoming, true, true, true);
    for (size_t k = 0; k < result.size(); ++k) {
      if (!result[k].defined()) result[k] = zeros(wanted[k].sizes(), wanted[k].options());
    }
    return result;
  };
  return check("gradgradcheck", gradients, extended, eps, atol, rtol);
}

}  // namespace taper::autograd
