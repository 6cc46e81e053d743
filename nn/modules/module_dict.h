#pragma once

#include <ostream>

#include "taper/nn/module.h"

namespace taper::nn {

/// Modules by name, in the order in which they came.
class TAPER_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Modules = OrderedDict<std::string, std::shared_ptr<Module>>;
  using Pairs = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;
  using Iterator = Modules::Iterator;
  using ConstIterator = Modules::ConstIterator;

  ModuleDictImpl();
  explicit ModuleDictImpl(const Pairs& modules);
  explicit ModuleDictImpl(const Modules& modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  Pairs items() const;
  std::vector<std::string> keys() const;
  std::vector<std::shared_ptr<Module>> values() const;
  Iterator begin() { return children_.begin(); }
  ConstIterator begin() const { return children_.begin(); }
  Iterator end() { return children_.end(); }
  ConstIterator end() const { return children_.end(); }
  size_t size() const noexcept { return children_.size(); }
  bool empty() const noexcept { return children_.is_empty(); }
  bool contains(const std::string& key) const noexcept;
  void clear();

  std::shared_ptr<Module> operator[](const std::string& key) const;
  /// The module as what it is.
  template <class M>
  M& at(const std::string& key) {
    M* module = dynamic_cast<M*>(children_[key].get());
    if (TAPER_UNLIKELY(!module)) fail_cast(key, typeid(M));
    return *module;
  }
  template <class M>
  const M& at(const std::string& key) const {
    return const_cast<ModuleDictImpl*>(this)->at<M>(key);
  }
  /// Takes the module out and returns it.
  std::shared_ptr<Module> pop(const std::string& key);
  /// Adds modules; one whose name is there replaces the old one.
  void update(const Pairs& modules);
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) set(item.key(), item.value());
  }

 private:
  void set(const std::string& key, std::shared_ptr<Module> module);
  [[noreturn]] static void fail_cast(const std::string& key, const std::type_info& wanted);
};
TAPER_MODULE(ModuleDict);

}  // namespace taper::nn
