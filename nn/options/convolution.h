#pragma once

#include <variant>

#include "taper/nn/enum.h"
#include "taper/nn/expanding_array.h"
#include "taper/nn/module.h"

namespace taper::nn {

namespace detail {
using conv_padding_mode_t =
    std::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
template <size_t D>
using conv_padding_t = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;
}  // namespace detail

/// Options of Conv1d and Conv2d: `Conv2dOptions(1, 32, 3).stride(2).padding(1)`.
template <size_t D>
struct ConvOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  using padding_t = detail::conv_padding_t<D>;

  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels),
        out_channels_(out_channels),
        kernel_size_(std::move(kernel_size)) {}

  TAPER_ARG(int64_t, in_channels);
  TAPER_ARG(int64_t, out_channels);
  TAPER_ARG(ExpandingArray<D>, kernel_size);
  TAPER_ARG(ExpandingArray<D>, stride) = 1;
  /// Added on both sides; or kValid (none) or kSame (the output is as large as the input).
  TAPER_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  ConvOptions& padding(std::initializer_list<int64_t> values) {
    padding_ = ExpandingArray<D>(values);
    return *this;
  }
  ConvOptions& padding(int64_t value) {
    padding_ = ExpandingArray<D>(value);
    return *this;
  }

  TAPER_ARG(ExpandingArray<D>, dilation) = 1;
  TAPER_ARG(int64_t, groups) = 1;
  TAPER_ARG(bool, bias) = true;
  TAPER_ARG(padding_mode_t, padding_mode) = kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;

template <size_t D>
struct ConvTransposeOptions {
  using padding_mode_t = detail::conv_padding_mode_t;

  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels),
        out_channels_(out_channels),
        kernel_size_(std::move(kernel_size)) {}

  TAPER_ARG(int64_t, in_channels);
  TAPER_ARG(int64_t, out_channels);
  TAPER_ARG(ExpandingArray<D>, kernel_size);
  TAPER_ARG(ExpandingArray<D>, stride) = 1;
  TAPER_ARG(ExpandingArray<D>, padding) = 0;
  /// Added to one side of the output's size, to choose among the sizes that a stride allows.
  TAPER_ARG(ExpandingArray<D>, output_padding) = 0;
  TAPER_ARG(int64_t, groups) = 1;
  TAPER_ARG(bool, bias) = true;
  TAPER_ARG(ExpandingArray<D>, dilation) = 1;
  TAPER_ARG(padding_mode_t, padding_mode) = kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;

namespace functional {

template <size_t D>
struct ConvFuncOptions {
  using padding_t = nn::detail::conv_padding_t<D>;

  TAPER_ARG(Tensor, bias) = Tensor();
  TAPER_ARG(ExpandingArray<D>, stride) = 1;
  TAPER_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  ConvFuncOptions& padding(std::initializer_list<int64_t> values) {
    padding_ = ExpandingArray<D>(values);
    return *this;
  }
  ConvFuncOptions& padding(int64_t value) {
    padding_ = ExpandingArray<D>(value);
    return *this;
  }

  TAPER_ARG(ExpandingArray<D>, dilation) = 1;
  TAPER_ARG(int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;

template <size_t D>
struct ConvTransposeFuncOptions {
  TAPER_ARG(Tensor, bias) = Tensor();
  TAPER_ARG(ExpandingArray<D>, stride) = 1;
  TAPER_ARG(ExpandingArray<D>, padding) = 0;
  TAPER_ARG(ExpandingArray<D>, output_padding) = 0;
  TAPER_ARG(int64_t, groups) = 1;
  TAPER_ARG(ExpandingArray<D>, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;

}  // namespace functional
}  // namespace taper::nn
