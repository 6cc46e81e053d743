#pragma once

#include <optional>
#include <variant>

#include "taper/nn/enum.h"
#include "taper/nn/expanding_array.h"
#include "taper/nn/module.h"

namespace taper::nn {

template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}

  TAPER_ARG(ExpandingArray<D>, kernel_size);
  /// The kernel's size unless set.
  TAPER_ARG(ExpandingArray<D>, stride);
  TAPER_ARG(ExpandingArray<D>, padding) = 0;
  TAPER_ARG(ExpandingArray<D>, dilation) = 1;
  TAPER_ARG(bool, ceil_mode) = false;
};
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;

template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}

  TAPER_ARG(ExpandingArray<D>, kernel_size);
  TAPER_ARG(ExpandingArray<D>, stride);
  TAPER_ARG(ExpandingArray<D>, padding) = 0;
  TAPER_ARG(bool, ceil_mode) = false;
  TAPER_ARG(bool, count_include_pad) = true;
  TAPER_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;

template <class OutputSize>
struct AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(OutputSize output_size) : output_size_(std::move(output_size)) {}
  TAPER_ARG(OutputSize, output_size);
};
using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<ExpandingArray<1>>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;

template <class OutputSize>
struct AdaptiveMaxPoolOptions {
  AdaptiveMaxPoolOptions(OutputSize output_size) : output_size_(std::move(output_size)) {}
  TAPER_ARG(OutputSize, output_size);
};
using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<2>>;

template <size_t D>
struct PaddingOptions {
  PaddingOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  TAPER_ARG(ExpandingArray<D * 2>, padding);
};
using ReflectionPad1dOptions = PaddingOptions<1>;
using ReflectionPad2dOptions = PaddingOptions<2>;
using ReplicationPad1dOptions = PaddingOptions<1>;
using ReplicationPad2dOptions = PaddingOptions<2>;
using ZeroPad1dOptions = PaddingOptions<1>;
using ZeroPad2dOptions = PaddingOptions<2>;

template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value)
      : padding_(padding), value_(value) {}
  TAPER_ARG(ExpandingArray<D * 2>, padding);
  TAPER_ARG(double, value);
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;

struct PixelShuffleOptions {
  PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
  TAPER_ARG(int64_t, upscale_factor);
};
struct PixelUnshuffleOptions {
  PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
  TAPER_ARG(int64_t, downscale_factor);
};

struct UpsampleOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kBilinear>;
  TAPER_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  TAPER_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  TAPER_ARG(mode_t, mode) = kNearest;
  TAPER_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

namespace functional {

using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;

struct PadFuncOptions {
  using mode_t = std::variant<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate,
                              enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  /// Pairs (before, after), the last dimension first.
  TAPER_ARG(std::vector<int64_t>, pad);
  TAPER_ARG(mode_t, mode) = kConstant;
  TAPER_ARG(double, value) = 0;
};

struct InterpolateFuncOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kBilinear, enumtype::kArea>;
  TAPER_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  TAPER_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  TAPER_ARG(mode_t, mode) = kNearest;
  TAPER_ARG(std::optional<bool>, align_corners) = std::nullopt;
  TAPER_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  TAPER_ARG(bool, antialias) = false;
};

}  // namespace functional
}  // namespace taper::nn
