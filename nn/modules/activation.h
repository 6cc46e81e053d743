#pragma once

#include "taper/nn/options/activation.h"

// Activations as modules. Each applies the function of its name, elementwise unless it says
// otherwise.

namespace taper::nn {

#define TAPER_ACTIVATION(Name)                                \
  class TAPER_API Name##Impl : public Cloneable<Name##Impl> { \
   public:                                                    \
    void reset() override {}                                  \
    void pretty_print(std::ostream& stream) const override;   \
    Tensor forward(const Tensor& input);                      \
  };                                                          \
  TAPER_MODULE(Name)

TAPER_ACTIVATION(SiLU);     ///< x * sigmoid(x)
TAPER_ACTIVATION(Mish);     ///< x * tanh(softplus(x))
TAPER_ACTIVATION(Sigmoid);  ///< 1 / (1 + exp(-x))
TAPER_ACTIVATION(Tanh);
TAPER_ACTIVATION(LogSigmoid);   ///< log(sigmoid(x)), exact for large negative x
TAPER_ACTIVATION(Softsign);     ///< x / (1 + |x|)
TAPER_ACTIVATION(Tanhshrink);   ///< x - tanh(x)
TAPER_ACTIVATION(Hardsigmoid);  ///< relu6(x + 3) / 6
TAPER_ACTIVATION(Hardswish);    ///< x * relu6(x + 3) / 6
#undef TAPER_ACTIVATION

/// The same with options; forward takes its input by value where it may work in place.
#define TAPER_ACTIVATION(Name, Input)                         \
  class TAPER_API Name##Impl : public Cloneable<Name##Impl> { \
   public:                                                    \
    explicit Name##Impl(const Name##Options& options = {});   \
    void reset() override {}                                  \
    void pretty_print(std::ostream& stream) const override;   \
    Tensor forward(Input input);                              \
                                                              \
    Name##Options options;                                    \
  };                                                          \
  TAPER_MODULE(Name)

TAPER_ACTIVATION(ReLU, Tensor);
TAPER_ACTIVATION(ReLU6, Tensor);        ///< min(max(x, 0), 6)
TAPER_ACTIVATION(SELU, Tensor);         ///< Klambauer et al., arXiv 1706.02515
TAPER_ACTIVATION(ELU, Tensor);          ///< x, or alpha * (exp(x) - 1) below 0
TAPER_ACTIVATION(CELU, Tensor);         ///< x, or alpha * (exp(x / alpha) - 1) below 0
TAPER_ACTIVATION(LeakyReLU, Tensor);    ///< x, or negative_slope * x below 0
TAPER_ACTIVATION(Hardtanh, Tensor);     ///< clamp(x, min_val, max_val)
TAPER_ACTIVATION(GELU, const Tensor&);  ///< x * Phi(x), arXiv 1606.08415
TAPER_ACTIVATION(Hardshrink, const Tensor&);
TAPER_ACTIVATION(Softshrink, const Tensor&);
TAPER_ACTIVATION(Softplus, const Tensor&);  ///< log(1 + exp(beta * x)) / beta
TAPER_ACTIVATION(GLU, const Tensor&);  ///< a * sigmoid(b), with a and b the halves of x along dim
#undef TAPER_ACTIVATION

/// x where it is over the threshold, else the value.
class TAPER_API ThresholdImpl : public Cloneable<ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value);
  explicit ThresholdImpl(const ThresholdOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ThresholdOptions options;
};
TAPER_MODULE(Threshold);

/// x, or weight * x below 0; one weight for all or one for each channel. He et al., arXiv
/// 1502.01852.
class TAPER_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PReLUOptions options;
  Tensor weight;
};
TAPER_MODULE(PReLU);

/// exp(x) / sum(exp(x)) along dim.
class TAPER_API SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(int64_t dim);
  explicit SoftmaxImpl(const SoftmaxOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftmaxOptions options;
};
TAPER_MODULE(Softmax);

class TAPER_API LogSoftmaxImpl : public Cloneable<LogSoftmaxImpl> {
 public:
  explicit LogSoftmaxImpl(int64_t dim);
  explicit LogSoftmaxImpl(const LogSoftmaxOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LogSoftmaxOptions options;
};
TAPER_MODULE(LogSoftmax);

}  // namespace taper::nn
