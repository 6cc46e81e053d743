#include "taper/nn/modules/pooling.h"

#include <ostream>

#include "taper/nn/functional.h"

namespace taper::nn {

namespace F = functional;

template <size_t D, class Derived>
MaxPoolImpl<D, Derived>::MaxPoolImpl(ExpandingArray<D> kernel_size)
    : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
template <size_t D, class Derived>
MaxPoolImpl<D, Derived>::MaxPoolImpl(const MaxPoolOptions<D>& options) : options(options) {}
template <size_t D, class Derived>
void MaxPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::MaxPool" << D << "d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding()
         << ", dilation=" << options.dilation() << ", ceil_mode=" << options.ceil_mode() << ")";
}
template class MaxPoolImpl<1, MaxPool1dImpl>;
template class MaxPoolImpl<2, MaxPool2dImpl>;

Tensor MaxPool1dImpl::forward(const Tensor& input) { return F::max_pool1d(input, options); }

// A row is a plane of height 1, so that positions in the plane are positions in the row.
std::tuple<Tensor, Tensor> MaxPool1dImpl::forward_with_indices(const Tensor& input) {
  const auto plane = [](const ExpandingArray<1>& length, int64_t height) {
    return ExpandingArray<2>({height, (*length)[0]});
  };
  const auto [values, indices] = F::max_pool2d_with_indices(
      input.unsqueeze(-2), MaxPool2dOptions(plane(options.kernel_size(), 1))
                               .stride(plane(options.stride(), 1))
                               .padding(plane(options.padding(), 0))
                               .dilation(plane(options.dilation(), 1))
                               .ceil_mode(options.ceil_mode()));
  return {values.squeeze(-2), indices.squeeze(-2)};
}

Tensor MaxPool2dImpl::forward(const Tensor& input) { return F::max_pool2d(input, options); }
std::tuple<Tensor, Tensor> MaxPool2dImpl::forward_with_indices(const Tensor& input) {
  return F::max_pool2d_with_indices(input, options);
}

template <size_t D, class Derived>
AvgPoolImpl<D, Derived>::AvgPoolImpl(ExpandingArray<D> kernel_size)
    : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
template <size_t D, class Derived>
AvgPoolImpl<D, Derived>::AvgPoolImpl(const AvgPoolOptions<D>& options) : options(options) {}
template <size_t D, class Derived>
void AvgPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AvgPool" << D << "d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";
}
template class AvgPoolImpl<1, AvgPool1dImpl>;
template class AvgPoolImpl<2, AvgPool2dImpl>;

Tensor AvgPool1dImpl::forward(const Tensor& input) { return F::avg_pool1d(input, options); }
Tensor AvgPool2dImpl::forward(const Tensor& input) { return F::avg_pool2d(input, options); }

AdaptiveAvgPool1dImpl::AdaptiveAvgPool1dImpl(ExpandingArray<1> output_size)
    : AdaptiveAvgPool1dImpl(AdaptiveAvgPool1dOptions(output_size)) {}
AdaptiveAvgPool1dImpl::AdaptiveAvgPool1dImpl(const AdaptiveAvgPool1dOptions& options)
    : options(options) {}
void AdaptiveAvgPool1dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveAvgPool1d(output_size=" << options.output_size() << ")";
}
Tensor AdaptiveAvgPool1dImpl::forward(const Tensor& input) {
  return F::adaptive_avg_pool1d(input, options);
}

AdaptiveAvgPool2dImpl::AdaptiveAvgPool2dImpl(ExpandingArrayWithOptionalElem<2> output_size)
    : AdaptiveAvgPool2dImpl(AdaptiveAvgPool2dOptions(output_size)) {}
AdaptiveAvgPool2dImpl::AdaptiveAvgPool2dImpl(const AdaptiveAvgPool2dOptions& options)
    : options(options) {}
void AdaptiveAvgPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveAvgPool2d(output_size=" << options.output_size() << ")";
}
Tensor AdaptiveAvgPool2dImpl::forward(const Tensor& input) {
  return F::adaptive_avg_pool2d(input, options);
}

AdaptiveMaxPool1dImpl::AdaptiveMaxPool1dImpl(ExpandingArray<1> output_size)
    : AdaptiveMaxPool1dImpl(AdaptiveMaxPool1dOptions(output_size)) {}
AdaptiveMaxPool1dImpl::AdaptiveMaxPool1dImpl(const AdaptiveMaxPool1dOptions& options)
    : options(options) {}
void AdaptiveMaxPool1dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveMaxPool1d(output_size=" << options.output_size() << ")";
}
Tensor AdaptiveMaxPool1dImpl::forward(const Tensor& input) {
  return F::adaptive_max_pool1d(input, options);
}
std::tuple<Tensor, Tensor> AdaptiveMaxPool1dImpl::forward_with_indices(const Tensor& input) {
  return F::adaptive_max_pool1d_with_indices(input, options);
}

AdaptiveMaxPool2dImpl::AdaptiveMaxPool2dImpl(ExpandingArrayWithOptionalElem<2> output_size)
    : AdaptiveMaxPool2dImpl(AdaptiveMaxPool2dOptions(output_size)) {}
AdaptiveMaxPool2dImpl::AdaptiveMaxPool2dImpl(const AdaptiveMaxPool2dOptions& options)
    : options(options) {}
void AdaptiveMaxPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveMaxPool2d(output_size=" << options.output_size() << ")";
}
Tensor AdaptiveMaxPool2dImpl::forward(const Tensor& input) {
  return F::adaptive_max_pool2d(input, options);
}
std::tuple<Tensor, Tensor> AdaptiveMaxPool2dImpl::forward_with_indices(const Tensor& input) {
  return F::adaptive_max_pool2d_with_indices(input, options);
}

}  // namespace taper::nn
