#pragma once

#include "taper/nn/options/pooling.h"

// Padding of the last one or two dimensions. Sizes are pairs (before, after), the last dimension
// first.

namespace taper::nn {

/// One module that pads, from its name and number of dimensions.
#define TAPER_PADDING(Name, D)                                        \
  class TAPER_API Name##D##dImpl : public Cloneable<Name##D##dImpl> { \
   public:                                                            \
    Name##D##dImpl(ExpandingArray<D * 2> padding);                    \
    explicit Name##D##dImpl(const Name##D##dOptions& options);        \
    void reset() override {}                                          \
    void pretty_print(std::ostream& stream) const override;           \
    Tensor forward(const Tensor& input);                              \
                                                                      \
    Name##D##dOptions options;                                        \
  };                                                                  \
  TAPER_MODULE(Name##D##d)

TAPER_PADDING(ReflectionPad, 1);  ///< mirrored at the edge, which is not repeated
TAPER_PADDING(ReflectionPad, 2);
TAPER_PADDING(ReplicationPad, 1);  ///< the edge repeated
TAPER_PADDING(ReplicationPad, 2);
TAPER_PADDING(ZeroPad, 1);
TAPER_PADDING(ZeroPad, 2);
#undef TAPER_PADDING

/// Pads with one value.
template <size_t D, class Derived>
class TAPER_API ConstantPadImpl : public Cloneable<Derived> {
 public:
  ConstantPadImpl(ExpandingArray<D * 2> padding, double value);
  explicit ConstantPadImpl(const ConstantPadOptions<D>& options);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  ConstantPadOptions<D> options;
};

class TAPER_API ConstantPad1dImpl : public ConstantPadImpl<1, ConstantPad1dImpl> {
 public:
  using ConstantPadImpl<1, ConstantPad1dImpl>::ConstantPadImpl;
};
TAPER_MODULE(ConstantPad1d);

class TAPER_API ConstantPad2dImpl : public ConstantPadImpl<2, ConstantPad2dImpl> {
 public:
  using ConstantPadImpl<2, ConstantPad2dImpl>::ConstantPadImpl;
};
TAPER_MODULE(ConstantPad2d);

}  // namespace taper::nn
