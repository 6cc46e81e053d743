#include "taper/nn/modules/activation.h"

#include <ostream>

#include "taper/core/factories.h"
#include "taper/nn/functional.h"
#include "taper/nn/init.h"

namespace taper::nn {

namespace F = functional;

// ---- Without options.

#define TAPER_DEFINE_ACTIVATION(Name, function)               \
  void Name##Impl::pretty_print(std::ostream& stream) const { \
    stream << "torch::nn::" #Name "()";                       \
  }                                                           \
  Tensor Name##Impl::forward(const Tensor& input) { return F::function(input); }
TAPER_DEFINE_ACTIVATION(SiLU, silu)
TAPER_DEFINE_ACTIVATION(Mish, mish)
TAPER_DEFINE_ACTIVATION(Sigmoid, sigmoid)
TAPER_DEFINE_ACTIVATION(Tanh, tanh)
TAPER_DEFINE_ACTIVATION(LogSigmoid, logsigmoid)
TAPER_DEFINE_ACTIVATION(Softsign, softsign)
TAPER_DEFINE_ACTIVATION(Tanhshrink, tanhshrink)
TAPER_DEFINE_ACTIVATION(Hardsigmoid, hardsigmoid)
TAPER_DEFINE_ACTIVATION(Hardswish, hardswish)
#undef TAPER_DEFINE_ACTIVATION

// ---- In place if asked. `printed` is what stands in the brackets before that.

namespace {

template <class Options>
void print_with_inplace(std::ostream& stream, const char* name, const std::string& printed,
                        const Options& options) {
  stream << "torch::nn::" << name << "(" << printed;
  if (options.inplace()) stream << (printed.empty() ? "" : ", ") << "inplace=true";
  stream << ")";
}

// "alpha=1": numbers as streams print them.
std::string labelled(const char* label, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%s=%g", label, value);
  return text;
}

}  // namespace

#define TAPER_DEFINE_ACTIVATION(Name, function, printed)                     \
  Name##Impl::Name##Impl(const Name##Options& options) : options(options) {} \
  void Name##Impl::pretty_print(std::ostream& stream) const {                \
    print_with_inplace(stream, #Name, printed, options);                     \
  }                                                                          \
  Tensor Name##Impl::forward(Tensor input) { return F::function(std::move(input), options); }
TAPER_DEFINE_ACTIVATION(ReLU, relu, "")
TAPER_DEFINE_ACTIVATION(ReLU6, relu6, "")
TAPER_DEFINE_ACTIVATION(SELU, selu, "")
TAPER_DEFINE_ACTIVATION(ELU, elu, labelled("alpha", options.alpha()))
TAPER_DEFINE_ACTIVATION(CELU, celu, labelled("alpha", options.alpha()))
TAPER_DEFINE_ACTIVATION(LeakyReLU, leaky_relu, labelled("negative_slope", options.negative_slope()))
TAPER_DEFINE_ACTIVATION(Hardtanh, hardtanh,
                        labelled("min_val", options.min_val()) + ", " +
                            labelled("max_val", options.max_val()))
TAPER_DEFINE_ACTIVATION(Threshold, threshold,
                        labelled("threshold", options.threshold()) + ", " +
                            labelled("value", options.value()))
#undef TAPER_DEFINE_ACTIVATION

ThresholdImpl::ThresholdImpl(double threshold, double value)
    : ThresholdImpl(ThresholdOptions(threshold, value)) {}

// ---- Never in place.

#define TAPER_DEFINE_ACTIVATION(Name, function, ...)                         \
  Name##Impl::Name##Impl(const Name##Options& options) : options(options) {} \
  void Name##Impl::pretty_print(std::ostream& stream) const {                \
    stream << "torch::nn::" #Name "(" << __VA_ARGS__ << ")";                 \
  }                                                                          \
  Tensor Name##Impl::forward(const Tensor& input) { return F::function(input, options); }
TAPER_DEFINE_ACTIVATION(GELU, gelu, "")
TAPER_DEFINE_ACTIVATION(Hardshrink, hardshrink, options.lambda())
TAPER_DEFINE_ACTIVATION(Softshrink, softshrink, options.lambda())
TAPER_DEFINE_ACTIVATION(Softplus, softplus,
                        "beta=" << options.beta() << ", threshold=" << options.threshold())
TAPER_DEFINE_ACTIVATION(GLU, glu, "dim=" << options.dim())
#undef TAPER_DEFINE_ACTIVATION

SoftmaxImpl::SoftmaxImpl(int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}
SoftmaxImpl::SoftmaxImpl(const SoftmaxOptions& options) : options(options) {}
void SoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmax(dim=" << options.dim() << ")";
}
Tensor SoftmaxImpl::forward(const Tensor& input) { return F::softmax(input, options.dim()); }

LogSoftmaxImpl::LogSoftmaxImpl(int64_t dim) : LogSoftmaxImpl(LogSoftmaxOptions(dim)) {}
LogSoftmaxImpl::LogSoftmaxImpl(const LogSoftmaxOptions& options) : options(options) {}
void LogSoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LogSoftmax(dim=" << options.dim() << ")";
}
Tensor LogSoftmaxImpl::forward(const Tensor& input) { return F::log_softmax(input, options.dim()); }

PReLUImpl::PReLUImpl(const PReLUOptions& options) : options(options) { reset(); }
void PReLUImpl::reset() {
  weight = register_parameter("weight", empty(options.num_parameters()));
  init::constant_(weight, options.init());
}
void PReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PReLU(num_parameters=" << options.num_parameters() << ")";
}
Tensor PReLUImpl::forward(const Tensor& input) { return F::prelu(input, weight); }

}  // namespace taper::nn
