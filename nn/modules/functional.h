#pragma once

#include <functional>

#include "taper/nn/module.h"

namespace taper::nn {

/// A function as a module, for Sequential: `Functional(torch::relu)`, or with more arguments bound,
/// `Functional(torch::elu, 1, 0, 1)`.
class TAPER_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function);
  template <class F, class... Arguments, class = std::enable_if_t<(sizeof...(Arguments) > 0)>>
  explicit FunctionalImpl(F function, Arguments&&... arguments)
      : FunctionalImpl(Function(
            std::bind(function, std::placeholders::_1, std::forward<Arguments>(arguments)...))) {}
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);
  Tensor operator()(Tensor input);
  /// A function cannot be written to a file.
  bool is_serializable() const override;

 private:
  Function function_;
};
TAPER_MODULE(Functional);

}  // namespace taper::nn
