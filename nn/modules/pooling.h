#pragma once

#include <tuple>

#include "taper/nn/options/pooling.h"

// Pooling over windows of [batch, channels, ...] or [channels, ...].

namespace taper::nn {

template <size_t D, class Derived>
class TAPER_API MaxPoolImpl : public Cloneable<Derived> {
 public:
  MaxPoolImpl(ExpandingArray<D> kernel_size);
  explicit MaxPoolImpl(const MaxPoolOptions<D>& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  MaxPoolOptions<D> options;
};

class TAPER_API MaxPool1dImpl : public MaxPoolImpl<1, MaxPool1dImpl> {
 public:
  using MaxPoolImpl<1, MaxPool1dImpl>::MaxPoolImpl;
  Tensor forward(const Tensor& input);
  /// Also the position of each maximum in its row.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
TAPER_MODULE(MaxPool1d);

class TAPER_API MaxPool2dImpl : public MaxPoolImpl<2, MaxPool2dImpl> {
 public:
  using MaxPoolImpl<2, MaxPool2dImpl>::MaxPoolImpl;
  Tensor forward(const Tensor& input);
  /// Also the position of each maximum in its plane, counted row by row.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
TAPER_MODULE(MaxPool2d);

template <size_t D, class Derived>
class TAPER_API AvgPoolImpl : public Cloneable<Derived> {
 public:
  AvgPoolImpl(ExpandingArray<D> kernel_size);
  explicit AvgPoolImpl(const AvgPoolOptions<D>& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  AvgPoolOptions<D> options;
};

class TAPER_API AvgPool1dImpl : public AvgPoolImpl<1, AvgPool1dImpl> {
 public:
  using AvgPoolImpl<1, AvgPool1dImpl>::AvgPoolImpl;
  Tensor forward(const Tensor& input);
};
TAPER_MODULE(AvgPool1d);

class TAPER_API AvgPool2dImpl : public AvgPoolImpl<2, AvgPool2dImpl> {
 public:
  using AvgPoolImpl<2, AvgPool2dImpl>::AvgPoolImpl;
  Tensor forward(const Tensor& input);
};
TAPER_MODULE(AvgPool2d);

/// Averages over windows chosen so that the output has the given size, whatever the input's.
class TAPER_API AdaptiveAvgPool1dImpl : public Cloneable<AdaptiveAvgPool1dImpl> {
 public:
  AdaptiveAvgPool1dImpl(ExpandingArray<1> output_size);
  explicit AdaptiveAvgPool1dImpl(const AdaptiveAvgPool1dOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  AdaptiveAvgPool1dOptions options;
};
TAPER_MODULE(AdaptiveAvgPool1d);

/// The largest of the same windows.
class TAPER_API AdaptiveMaxPool1dImpl : public Cloneable<AdaptiveMaxPool1dImpl> {
 public:
  AdaptiveMaxPool1dImpl(ExpandingArray<1> output_size);
  explicit AdaptiveMaxPool1dImpl(const AdaptiveMaxPool1dOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  /// Also the position of each maximum in its row.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);

  AdaptiveMaxPool1dOptions options;
};
TAPER_MODULE(AdaptiveMaxPool1d);

class TAPER_API AdaptiveMaxPool2dImpl : public Cloneable<AdaptiveMaxPool2dImpl> {
 public:
  AdaptiveMaxPool2dImpl(ExpandingArrayWithOptionalElem<2> output_size);
  explicit AdaptiveMaxPool2dImpl(const AdaptiveMaxPool2dOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  /// Also the position of each maximum in its plane, counted row by row.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);

  AdaptiveMaxPool2dOptions options;
};
TAPER_MODULE(AdaptiveMaxPool2d);

/// A size of nullopt keeps the input's.
class TAPER_API AdaptiveAvgPool2dImpl : public Cloneable<AdaptiveAvgPool2dImpl> {
 public:
  AdaptiveAvgPool2dImpl(ExpandingArrayWithOptionalElem<2> output_size);
  explicit AdaptiveAvgPool2dImpl(const AdaptiveAvgPool2dOptions& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  AdaptiveAvgPool2dOptions options;
};
TAPER_MODULE(AdaptiveAvgPool2d);

}  // namespace taper::nn
