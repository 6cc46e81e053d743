#include "taper/nn/modules/conv.h"

#include <cmath>
#include <ostream>

#include "taper/core/factories.h"
#include "taper/nn/functional.h"
#include "taper/nn/init.h"

namespace taper::nn {

namespace F = functional;

namespace {

template <class Options>
void check_channels(const Options& options) {
  TAPER_CHECK(options.in_channels() > 0 && options.groups() > 0 && options.out_channels() > 0,
              "in_channels, groups and out_channels must be a positive integer.");
  TAPER_CHECK(options.in_channels() % options.groups() == 0,
              "in_channels must be divisible by groups");
  TAPER_CHECK(options.out_channels() % options.groups() == 0,
              "out_channels must be divisible by groups");
}

template <size_t D>
Tensor empty_weight(int64_t first, int64_t second, const ExpandingArray<D>& kernel) {
  std::vector<int64_t> sizes = {first, second};
  sizes.insert(sizes.end(), kernel->begin(), kernel->end());
  return taper::empty(sizes);
}

// Draws the weight first, then the bias: PyTorch's order.
void initialise(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto fan_in = static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(weight)));
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}

const char* name_of(const detail::conv_padding_mode_t& mode) {
  constexpr const char* kNames[] = {"kZeros", "kReflect", "kReplicate", "kCircular"};
  return kNames[mode.index()];
}

bool is_zeros(const detail::conv_padding_mode_t& mode) {
  return std::holds_alternative<enumtype::kZeros>(mode);
}

F::PadFuncOptions::mode_t pad_mode(const detail::conv_padding_mode_t& mode) {
  if (std::holds_alternative<enumtype::kReflect>(mode)) return kReflect;
  if (std::holds_alternative<enumtype::kReplicate>(mode)) return kReplicate;
  return kCircular;
}

template <size_t D>
void print_unless(std::ostream& stream, const char* name, const ExpandingArray<D>& value,
                  int64_t common) {
  if (*value != *ExpandingArray<D>(common)) stream << ", " << name << "=" << value;
}

template <class Options>
void print_end(std::ostream& stream, const Options& options) {
  if (options.groups() != 1) stream << ", groups=" << options.groups();
  if (!options.bias()) stream << ", bias=false";
  if (!is_zeros(options.padding_mode())) {
    stream << ", padding_mode=" << name_of(options.padding_mode());
  }
  stream << ")";
}

}  // namespace

// ---- Convolution.

template <size_t D, class Derived>
ConvImpl<D, Derived>::ConvImpl(const ConvOptions<D>& options) : options(options) {
  ConvImpl::reset();
}

template <size_t D, class Derived>
void ConvImpl<D, Derived>::reset() {
  check_channels(options);
  if (std::holds_alternative<enumtype::kSame>(options.padding())) {
    for (const int64_t stride : *options.stride()) {
      TAPER_CHECK(stride == 1, "padding='same' is not supported for strided convolutions");
    }
  }
  weight = this->register_parameter(
      "weight", empty_weight(options.out_channels(), options.in_channels() / options.groups(),
                             options.kernel_size()));
  bias =
      this->register_parameter("bias", options.bias() ? empty(options.out_channels()) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived>
void ConvImpl<D, Derived>::reset_parameters() {
  initialise(weight, bias);
}

template <size_t D, class Derived>
void ConvImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Conv" << D << "d(" << options.in_channels() << ", "
         << options.out_channels() << ", kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride();
  if (const auto* sizes = std::get_if<ExpandingArray<D>>(&options.padding())) {
    print_unless(stream, "padding", *sizes, 0);
  } else {
    const bool same = std::holds_alternative<enumtype::kSame>(options.padding());
    stream << ", padding='" << (same ? "same" : "valid") << "'";
  }
  print_unless(stream, "dilation", options.dilation(), 1);
  print_end(stream, options);
}

template <size_t D, class Derived>
std::pair<Tensor, typename ConvOptions<D>::padding_t> ConvImpl<D, Derived>::padded(
    const Tensor& input) const {
  if (is_zeros(options.padding_mode())) return {input, options.padding()};
  // Pairs (before, after), the last dimension first.
  std::vector<int64_t> pad;
  for (size_t d = D; d-- > 0;) {
    int64_t before = 0, after = 0;
    if (const auto* sizes = std::get_if<ExpandingArray<D>>(&options.padding())) {
      before = after = (**sizes)[d];
    } else if (std::holds_alternative<enumtype::kSame>(options.padding())) {
      const int64_t total = (*options.dilation())[d] * ((*options.kernel_size())[d] - 1);
      before = total / 2;
      after = total - before;
    }
    pad.push_back(before);
    pad.push_back(after);
  }
  return {F::pad(input, F::PadFuncOptions(pad).mode(pad_mode(options.padding_mode()))),
          ExpandingArray<D>(0)};
}

Conv1dImpl::Conv1dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<1> kernel_size)
    : Conv1dImpl(Conv1dOptions(in_channels, out_channels, kernel_size)) {}
Conv1dImpl::Conv1dImpl(const Conv1dOptions& options) : ConvImpl(options) {}
Tensor Conv1dImpl::forward(const Tensor& input) {
  const auto [x, padding] = padded(input);
  return F::conv1d(x, weight,
                   F::Conv1dFuncOptions()
                       .bias(bias)
                       .stride(options.stride())
                       .padding(padding)
                       .dilation(options.dilation())
                       .groups(options.groups()));
}

Conv2dImpl::Conv2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size)
    : Conv2dImpl(Conv2dOptions(in_channels, out_channels, kernel_size)) {}
Conv2dImpl::Conv2dImpl(const Conv2dOptions& options) : ConvImpl(options) {}
Tensor Conv2dImpl::forward(const Tensor& input) {
  const auto [x, padding] = padded(input);
  return F::conv2d(x, weight,
                   F::Conv2dFuncOptions()
                       .bias(bias)
                       .stride(options.stride())
                       .padding(padding)
                       .dilation(options.dilation())
                       .groups(options.groups()));
}

// ---- Transposed convolution.

template <size_t D, class Derived>
ConvTransposeImpl<D, Derived>::ConvTransposeImpl(const ConvTransposeOptions<D>& options)
    : options(options) {
  ConvTransposeImpl::reset();
}

template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::reset() {
  check_channels(options);
  weight = this->register_parameter(
      "weight", empty_weight(options.in_channels(), options.out_channels() / options.groups(),
                             options.kernel_size()));
  bias =
      this->register_parameter("bias", options.bias() ? empty(options.out_channels()) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::reset_parameters() {
  initialise(weight, bias);
}

template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ConvTranspose" << D << "d(" << options.in_channels() << ", "
         << options.out_channels() << ", kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride();
  print_unless(stream, "padding", options.padding(), 0);
  print_unless(stream, "dilation", options.dilation(), 1);
  print_unless(stream, "output_padding", options.output_padding(), 0);
  print_end(stream, options);
}

template <size_t D, class Derived>
ExpandingArray<D> ConvTransposeImpl<D, Derived>::output_padding_for(
    const Tensor& input, const std::optional<IntArrayRef>& output_size) const {
  TAPER_CHECK(is_zeros(options.padding_mode()),
              "Only `zeros` padding mode is supported for ConvTranspose", D, "d");
  if (!output_size) return options.output_padding();
  const auto outer = static_cast<size_t>(input.dim()) - D;
  IntArrayRef wanted = *output_size;
  if (wanted.size() == D + outer) wanted = wanted.slice(outer, D);
  TAPER_CHECK(wanted.size() == D, "ConvTranspose", D, "D: for ", input.dim(),
              "D input, output_size must have ", D, " or ", D + outer, " elements (got ",
              output_size->size(), ")");
  ExpandingArray<D> extra(0);
  for (size_t d = 0; d < D; ++d) {
    const int64_t in = input.size(static_cast<int64_t>(outer + d));
    const int64_t smallest = (in - 1) * (*options.stride())[d] - 2 * (*options.padding())[d] +
                             (*options.dilation())[d] * ((*options.kernel_size())[d] - 1) + 1;
    const int64_t largest = smallest + (*options.stride())[d] - 1;
    TAPER_CHECK(wanted[d] >= smallest && wanted[d] <= largest, "requested an output size of ",
                wanted, ", but valid sizes in dimension ", d, " range from ", smallest, " to ",
                largest, " (for an input of ", input.sizes(), ")");
    (*extra)[d] = wanted[d] - smallest;
  }
  return extra;
}

ConvTranspose1dImpl::ConvTranspose1dImpl(int64_t in_channels, int64_t out_channels,
                                         ExpandingArray<1> kernel_size)
    : ConvTranspose1dImpl(ConvTranspose1dOptions(in_channels, out_channels, kernel_size)) {}
ConvTranspose1dImpl::ConvTranspose1dImpl(const ConvTranspose1dOptions& options)
    : ConvTransposeImpl(options) {}
Tensor ConvTranspose1dImpl::forward(const Tensor& input,
                                    const std::optional<IntArrayRef>& output_size) {
  return F::conv_transpose1d(input, weight,
                             F::ConvTranspose1dFuncOptions()
                                 .bias(bias)
                                 .stride(options.stride())
                                 .padding(options.padding())
                                 .output_padding(output_padding_for(input, output_size))
                                 .groups(options.groups())
                                 .dilation(options.dilation()));
}

ConvTranspose2dImpl::ConvTranspose2dImpl(int64_t in_channels, int64_t out_channels,
                                         ExpandingArray<2> kernel_size)
    : ConvTranspose2dImpl(ConvTranspose2dOptions(in_channels, out_channels, kernel_size)) {}
ConvTranspose2dImpl::ConvTranspose2dImpl(const ConvTranspose2dOptions& options)
    : ConvTransposeImpl(options) {}
Tensor ConvTranspose2dImpl::forward(const Tensor& input,
                                    const std::optional<IntArrayRef>& output_size) {
  return F::conv_transpose2d(input, weight,
                             F::ConvTranspose2dFuncOptions()
                                 .bias(bias)
                                 .stride(options.stride())
                                 .padding(options.padding())
                                 .output_padding(output_padding_for(input, output_size))
                                 .groups(options.groups())
                                 .dilation(options.dilation()));
}

template class ConvImpl<1, Conv1dImpl>;
template class ConvImpl<2, Conv2dImpl>;
template class ConvTransposeImpl<1, ConvTranspose1dImpl>;
template class ConvTransposeImpl<2, ConvTranspose2dImpl>;

}  // namespace taper::nn
