#include "taper/nn/modules/padding.h"

#include <ostream>

#include "taper/nn/functional.h"

namespace taper::nn {

namespace F = functional;

namespace {

template <size_t N>
F::PadFuncOptions pad_by(const ExpandingArray<N>& padding) {
  return F::PadFuncOptions({padding->begin(), padding->end()});
}

}  // namespace

#define TAPER_DEFINE_PADDING(Name, D, mode_name)                                         \
  Name##D##dImpl::Name##D##dImpl(ExpandingArray<D * 2> padding)                          \
      : Name##D##dImpl(Name##D##dOptions(padding)) {}                                    \
  Name##D##dImpl::Name##D##dImpl(const Name##D##dOptions& options) : options(options) {} \
  void Name##D##dImpl::pretty_print(std::ostream& stream) const {                        \
    stream << "torch::nn::" #Name #D "d(padding=" << options.padding() << ")";           \
  }                                                                                      \
  Tensor Name##D##dImpl::forward(const Tensor& input) {                                  \
    return F::pad(input, pad_by(options.padding()).mode(mode_name));                     \
  }
TAPER_DEFINE_PADDING(ReflectionPad, 1, kReflect)
TAPER_DEFINE_PADDING(ReflectionPad, 2, kReflect)
TAPER_DEFINE_PADDING(ReplicationPad, 1, kReplicate)
TAPER_DEFINE_PADDING(ReplicationPad, 2, kReplicate)
TAPER_DEFINE_PADDING(ZeroPad, 1, kConstant)
TAPER_DEFINE_PADDING(ZeroPad, 2, kConstant)
#undef TAPER_DEFINE_PADDING

template <size_t D, class Derived>
ConstantPadImpl<D, Derived>::ConstantPadImpl(ExpandingArray<D * 2> padding, double value)
    : ConstantPadImpl(ConstantPadOptions<D>(padding, value)) {}
template <size_t D, class Derived>
ConstantPadImpl<D, Derived>::ConstantPadImpl(const ConstantPadOptions<D>& options)
    : options(options) {}
template <size_t D, class Derived>
void ConstantPadImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ConstantPad" << D << "d(padding=" << options.padding()
         << ", value=" << options.value() << ")";
}
template <size_t D, class Derived>
Tensor ConstantPadImpl<D, Derived>::forward(const Tensor& input) {
  return F::pad(input, pad_by(options.padding()).value(options.value()));
}
template class ConstantPadImpl<1, ConstantPad1dImpl>;
template class ConstantPadImpl<2, ConstantPad2dImpl>;

}  // namespace taper::nn
