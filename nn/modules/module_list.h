#pragma once

#include <ostream>

#include "taper/nn/module.h"

namespace taper::nn {

/// Modules in a list, named "0", "1", ...; the program calls them as it likes.
class TAPER_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  ModuleListImpl(const ModuleListImpl&) = default;
  ModuleListImpl(ModuleListImpl&&) = default;
  ModuleListImpl& operator=(const ModuleListImpl&) = default;
  template <class First, class... Rest,
            class = std::enable_if_t<!std::is_base_of_v<ModuleListImpl, std::decay_t<First>>>>
  explicit ModuleListImpl(First&& first, Rest&&... rest) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  void push_back(std::shared_ptr<Module> module) { insert(size(), std::move(module)); }
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>>
  void push_back(M&& module) {
    insert(size(), std::forward<M>(module));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& module) {
    insert(size(), module.ptr());
  }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  /// Puts a module before position `index`; those after it get new numbers.
  void insert(size_t index, std::shared_ptr<Module> module);
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>>
  void insert(size_t index, M&& module) {
    insert(index, std::static_pointer_cast<Module>(
                      std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }
  template <class M>
  void insert(size_t index, const ModuleHolder<M>& module) {
    insert(index, std::static_pointer_cast<Module>(module.ptr()));
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }

  /// The module as what it is.
  template <class M>
  M& at(size_t index) {
    M* module = dynamic_cast<M*>(ptr(index).get());
    if (TAPER_UNLIKELY(!module)) fail_cast(index, typeid(M));
    return *module;
  }
  template <class M>
  const M& at(size_t index) const {
    return const_cast<ModuleListImpl*>(this)->at<M>(index);
  }
  std::shared_ptr<Module> ptr(size_t index) const {
    TAPER_CHECK(index < size(), "Index out of range");
    return modules_[index];
  }
  /// Null where the module is of another type.
  template <class M>
  std::shared_ptr<M> ptr(size_t index) const {
    return std::dynamic_pointer_cast<M>(ptr(index));
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  [[noreturn]] static void fail_cast(size_t index, const std::type_info& wanted);

  std::vector<std::shared_ptr<Module>> modules_;
};
TAPER_MODULE(ModuleList);

}  // namespace taper::nn
