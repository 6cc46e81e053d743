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

#define TAPER_DEFINE_PADDING(Name, mode_name)                              \
  void Name##Impl::pretty_print(std::ostream& stream) const {              \
    stream << "torch::nn::" #Name "(padding=" << options.padding() << ")"; \
  }                                                                        \
  Tensor Name##Impl::forward(const Tensor& input) {                        \
    return F::pad(input, pad_by(options.padding()).mode(mode_name));       \
  }
TAPER_DEFINE_PADDING(ReflectionPad1d, kReflect)
TAPER_DEFINE_PADDING(ReflectionPad2d, kReflect)
TAPER_DEFINE_PADDING(ReplicationPad1d, kReplicate)
TAPER_DEFINE_PADDING(ReplicationPad2d, kReplicate)
TAPER_DEFINE_PADDING(ZeroPad1d, kConstant)
TAPER_DEFINE_PADDING(ZeroPad2d, kConstant)
#undef TAPER_DEFINE_PADDING

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
