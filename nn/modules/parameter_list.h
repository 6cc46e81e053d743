#pragma once

#include <ostream>

#include "taper/nn/module.h"

namespace taper::nn {

/// Parameters in a list, named "0", "1", ...; a tensor that requires no grad is held, but not
/// trained.
class TAPER_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Item = OrderedDict<std::string, Tensor>::Item;
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterListImpl() = default;
  ParameterListImpl(const ParameterListImpl&) = default;
  ParameterListImpl(ParameterListImpl&&) = default;
  ParameterListImpl& operator=(const ParameterListImpl&) = default;
  template <class First, class... Rest,
            class = std::enable_if_t<!std::is_base_of_v<ParameterListImpl, std::decay_t<First>>>>
  explicit ParameterListImpl(const First& first, const Rest&... rest) {
    append(first);
    (append(rest), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  void append(const Tensor& parameter);
  void append(const Item& item) { append(item.value()); }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) append(parameter);
  }
  template <class Container>
  ParameterListImpl& operator+=(const Container& container) {
    extend(container);
    return *this;
  }

  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  Tensor& at(size_t index) {
    TAPER_CHECK(index < size(), "Index out of range");
    return parameters_[index].value();
  }
  const Tensor& at(size_t index) const { return const_cast<ParameterListImpl*>(this)->at(index); }
  Tensor& operator[](size_t index) { return at(index); }
  const Tensor& operator[](size_t index) const { return at(index); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
TAPER_MODULE(ParameterList);

}  // namespace taper::nn
