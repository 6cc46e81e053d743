#pragma once

#include <ostream>

#include "taper/nn/module.h"

namespace taper::nn {

/// Parameters by name, in the order in which they came.
class TAPER_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Parameters = OrderedDict<std::string, Tensor>;
  using Iterator = Parameters::Iterator;
  using ConstIterator = Parameters::ConstIterator;

  ParameterDictImpl();
  explicit ParameterDictImpl(const Parameters& parameters);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Throws when the name is taken.
  Tensor& insert(const std::string& key, const Tensor& parameter);
  /// Takes the parameter out and returns it.
  Tensor pop(const std::string& key);
  /// Adds parameters; one whose name is there replaces the old one.
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) set(item.key(), item.value());
  }
  std::vector<std::string> keys() const;
  std::vector<Tensor> values() const;
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  bool contains(const std::string& key) const noexcept;
  void clear();
  Tensor& get(const std::string& key);
  const Tensor& get(const std::string& key) const;
  Tensor& operator[](const std::string& key);
  const Tensor& operator[](const std::string& key) const;

 private:
  void set(const std::string& key, const Tensor& parameter);
};
TAPER_MODULE(ParameterDict);

}  // namespace taper::nn
