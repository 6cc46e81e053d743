#pragma once

#include <optional>
#include <string>
#include <variant>

#include "taper/nn/enum.h"
#include "taper/nn/module.h"

namespace taper::nn {

/// Options of an activation that only knows whether to work in place.
#define TAPER_INPLACE_OPTIONS(Name)                            \
  struct Name##Options {                                       \
    Name##Options(bool inplace = false) : inplace_(inplace) {} \
    TAPER_ARG(bool, inplace);                                  \
  }
TAPER_INPLACE_OPTIONS(ReLU);
TAPER_INPLACE_OPTIONS(ReLU6);
TAPER_INPLACE_OPTIONS(SELU);
#undef TAPER_INPLACE_OPTIONS

struct ELUOptions {
  TAPER_ARG(double, alpha) = 1.0;
  TAPER_ARG(bool, inplace) = false;
};
struct CELUOptions {
  TAPER_ARG(double, alpha) = 1.0;
  TAPER_ARG(bool, inplace) = false;
};
struct LeakyReLUOptions {
  TAPER_ARG(double, negative_slope) = 1e-2;
  TAPER_ARG(bool, inplace) = false;
};
struct GELUOptions {
  /// "none" or "tanh".
  TAPER_ARG(std::string, approximate) = "none";
};
struct HardtanhOptions {
  TAPER_ARG(double, min_val) = -1.0;
  TAPER_ARG(double, max_val) = 1.0;
  TAPER_ARG(bool, inplace) = false;
};
struct HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TAPER_ARG(double, lambda) = 0.5;
};
struct SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TAPER_ARG(double, lambda) = 0.5;
};
struct SoftplusOptions {
  TAPER_ARG(double, beta) = 1.0;
  TAPER_ARG(double, threshold) = 20.0;
};
struct ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  TAPER_ARG(double, threshold);
  TAPER_ARG(double, value);
  TAPER_ARG(bool, inplace) = false;
};
struct PReLUOptions {
  TAPER_ARG(int64_t, num_parameters) = 1;
  TAPER_ARG(double, init) = 0.25;
};
struct GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  TAPER_ARG(int64_t, dim) = -1;
};
struct SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  TAPER_ARG(int64_t, dim);
};
struct LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim) : dim_(dim) {}
  TAPER_ARG(int64_t, dim);
};

namespace functional {

using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using SELUFuncOptions = SELUOptions;
using ELUFuncOptions = ELUOptions;
using CELUFuncOptions = CELUOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using GELUFuncOptions = GELUOptions;
using HardtanhFuncOptions = HardtanhOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using SoftplusFuncOptions = SoftplusOptions;
using ThresholdFuncOptions = ThresholdOptions;
using GLUFuncOptions = GLUOptions;

struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TAPER_ARG(int64_t, dim);
  TAPER_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};
struct LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TAPER_ARG(int64_t, dim);
  TAPER_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};

}  // namespace functional
}  // namespace taper::nn
