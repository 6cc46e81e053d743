#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "taper/core/tensor.h"
#include "taper/nn/ordered_dict.h"

namespace taper::serialize {
class InputArchive;
class OutputArchive;
}  // namespace taper::serialize

namespace taper::nn {

template <class Contained>
class ModuleHolder;

/// What was wrong with a state dictionary: see `Module::load_state_dict`.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

class TAPER_API Module;
namespace detail {
/// Copies parameters and buffers by name and clones children into `to`, which was just `reset()`.
TAPER_API void copy_module_state(Module& to, const Module& from,
                                 const std::optional<Device>& device);
}  // namespace detail

/// The base of all modules: a tree of submodules, each with parameters (trained) and buffers (kept
/// with the state, not trained), all registered under names. Owned by shared_ptr; a `ModuleHolder`
/// (Linear for LinearImpl) is the handle that programs use.
class TAPER_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;

  explicit Module(std::string name);
  /// The name is then that of the type.
  Module();
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;
  virtual ~Module();

  const std::string& name() const noexcept;

  /// A deep copy, made by copy-constructing the type and registering again (`reset()`); only for
  /// modules that derive from Cloneable.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  // ---- The tree.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = {});
  void apply(const ModulePointerApplyFunction& function) const;
  /// Each tensor once, also where it is registered under several names (tied weights). The lists
  /// of names have all of them.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = {}, bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  // ---- State.
  virtual void train(bool on = true);
  void eval();
  bool is_training() const noexcept { return training_; }
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);
  /// Parameters and buffers by their full names, sharing memory with the module.
  OrderedDict<std::string, Tensor> state_dict() const;
  /// Copies values in. With `strict`, names that do not match throw one error that lists all of
  /// them; shapes that do not match always do, before anything is written.
  IncompatibleKeys load_state_dict(const OrderedDict<std::string, Tensor>& state,
                                   bool strict = true);
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  virtual bool is_serializable() const;

  // ---- Printing: as PyTorch prints modules.
  virtual void pretty_print(std::ostream& stream) const;

  template <class ModuleType>
  typename ModuleType::ContainedType* as() noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <class ModuleType>
  const typename ModuleType::ContainedType* as() const noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <class ModuleType, class = std::enable_if_t<std::is_base_of_v<Module, ModuleType>>,
            class = void>
  ModuleType* as() noexcept {
    return dynamic_cast<ModuleType*>(this);
  }
  template <class ModuleType, class = std::enable_if_t<std::is_base_of_v<Module, ModuleType>>,
            class = void>
  const ModuleType* as() const noexcept {
    return dynamic_cast<const ModuleType*>(this);
  }

  // ---- Registration. Names are not empty, have no dot and are used once.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name,
                                              std::shared_ptr<ModuleType> module) {
    insert_child(std::move(name), module);
    return module;
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name,
                                              ModuleHolder<ModuleType> module_holder) {
    return register_module(std::move(name), module_holder.ptr());
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name,
                                             std::shared_ptr<ModuleType> module) {
    children_[name] = module;
    return module;
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name,
                                             ModuleHolder<ModuleType> module_holder) {
    return replace_module(name, module_holder.ptr());
  }
  void unregister_module(const std::string& name);

 protected:
  virtual void clone_(Module& other, const std::optional<Device>& device);

  OrderedDict<std::string, Tensor> parameters_{"Parameter"};
  OrderedDict<std::string, Tensor> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};
  bool training_ = true;

 private:
  template <class Derived>
  friend class Cloneable;
  friend void detail::copy_module_state(Module&, const Module&, const std::optional<Device>&);
  friend TAPER_API std::ostream& operator<<(std::ostream& stream, const Module& module);

  void insert_child(std::string name, std::shared_ptr<Module> module);
  void walk(const std::string& prefix,
            const std::function<void(const std::string&, Module&)>& visit) const;
  void print_tree(std::ostream& stream, const std::string& indentation) const;
  std::shared_ptr<Module> shared() const;

  mutable std::optional<std::string> name_;
};

TAPER_API std::ostream& operator<<(std::ostream& stream, const Module& module);
TAPER_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                               const std::shared_ptr<Module>& module);
TAPER_API serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                              const std::shared_ptr<Module>& module);

/// The base of modules that can be cloned: `reset()` registers everything, and so does the
/// constructor.
template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Makes parameters, buffers and submodules anew, and initialises them.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    copy->parameters_.clear();
    copy->buffers_.clear();
    copy->children_.clear();
    copy->reset();
    copy->copy_state_from(*this, device);
    return copy;
  }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    // Assigning keeps the registered names and takes over the options.
    auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
    TAPER_CHECK(clone != nullptr,
                "Attempted to clone submodule, but it is of a different type than the "
                "submodule it was to be cloned into");
    static_cast<Derived&>(*this) = *clone;
  }
  void copy_state_from(const Module& from, const std::optional<Device>& device);
};

template <class Derived>
void Cloneable<Derived>::copy_state_from(const Module& from, const std::optional<Device>& device) {
  detail::copy_module_state(*this, from, device);
}

/// The handle: shares one module among its copies. `net(x)` is `net->forward(x)`.
template <class Contained>
class ModuleHolder {
 public:
  using ContainedType = Contained;

  /// Default-constructs the module where its type allows it, else the holder is empty.
  ModuleHolder() : impl_(make_default()) {}
  ModuleHolder(std::nullptr_t) : impl_(nullptr) {}
  template <class Head, class... Tail,
            class = std::enable_if_t<
                !(std::is_base_of_v<ModuleHolder, std::decay_t<Head>> && sizeof...(Tail) == 0) &&
                !std::is_same_v<std::decay_t<Head>, std::shared_ptr<Contained>>>>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(std::make_shared<Contained>(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  std::shared_ptr<Contained> ptr() const {
    TAPER_CHECK(!is_empty(), "Accessing empty ModuleHolder");
    return std::static_pointer_cast<Contained>(impl_);
  }
  Contained* get() {
    TAPER_CHECK(!is_empty(), "Accessing empty ModuleHolder");
    return static_cast<Contained*>(impl_.get());
  }
  const Contained* get() const {
    TAPER_CHECK(!is_empty(), "Accessing empty ModuleHolder");
    return static_cast<const Contained*>(impl_.get());
  }
  bool is_empty() const noexcept { return impl_ == nullptr; }

  // M stands for Contained, which may have no forward (ModuleList).
  template <class... Args, class M = Contained>
  auto operator()(Args&&... args)
      -> decltype(std::declval<M&>().forward(std::forward<Args>(args)...)) {
    return get()->forward(std::forward<Args>(args)...);
  }
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 protected:
  // Not of Contained: one shared_ptr for all modules spares programs a tenth of their compile time.
  std::shared_ptr<Module> impl_;

 private:
  static std::shared_ptr<Contained> make_default() {
    if constexpr (std::is_default_constructible_v<Contained>) {
      return std::make_shared<Contained>();
    } else {
      return nullptr;
    }
  }
};

template <class Contained>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<Contained>& module) {
  return stream << static_cast<const Module&>(*module);
}
template <class Contained>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const ModuleHolder<Contained>& module) {
  return archive << std::static_pointer_cast<Module>(module.ptr());
}
template <class Contained>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    ModuleHolder<Contained>& module) {
  return archive >> std::static_pointer_cast<Module>(module.ptr());
}

}  // namespace taper::nn

/// Makes the holder class `Name` for the module class `ImplType`.
#define TAPER_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::taper::nn::ModuleHolder<ImplType> {  \
   public:                                                   \
    using ::taper::nn::ModuleHolder<ImplType>::ModuleHolder; \
    Name() = default;                                        \
    Name(const Name&) = default;                             \
    Name(Name&&) = default;                                  \
    Name& operator=(const Name&) = default;                  \
    Name& operator=(Name&&) = default;                       \
    using Impl [[maybe_unused]] = ImplType;                  \
  }
/// Makes the holder `Name` for `NameImpl`.
#define TAPER_MODULE(Name) TAPER_MODULE_IMPL(Name, Name##Impl)

/// A field of an options struct with LibTorch's setters and getters: `options.stride(2)`,
/// `options.stride()`.
#define TAPER_ARG(Type, name)                                        \
 public:                                                             \
  inline auto name(const Type& new_##name) -> decltype(*this) {      \
    this->name##_                                                    \
    = new_##name;                                                    \
    return *this;                                                    \
  }                                                                  \
  inline auto name(Type&& new_##name) -> decltype(*this) {           \
    this->name##_                                                    \
    = std::move(new_##name);                                         \
    return *this;                                                    \
  }                                                                  \
  inline const Type& name() const noexcept { return this->name##_; } \
  inline Type& name() noexcept { return this->name##_; }             \
                                                                     \
 private:                                                            \
  Type name##_ /* NOLINT */
