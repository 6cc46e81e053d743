#pragma once

#include <any>
#include <memory>
#include <typeinfo>
#include <vector>

#include "taper/nn/module.h"

namespace taper::nn {

namespace detail {
/// "taper::Tensor", for messages.
TAPER_API std::string type_name(const std::type_info& type);
}  // namespace detail

/// What goes in and out of an AnyModule: a value of any type, by its exact type.
class AnyValue {
 public:
  AnyValue(const AnyValue&) = default;
  AnyValue(AnyValue&&) = default;
  template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>>>
  explicit AnyValue(T&& value) : value_(std::decay_t<T>(std::forward<T>(value))) {}

  template <class T>
  T* try_get() {
    return std::any_cast<T>(&value_);
  }
  template <class T>
  T get() {
    T* value = try_get<T>();
    TAPER_CHECK(value, "Attempted to cast AnyValue to ", detail::type_name(typeid(T)),
                ", but its actual type is ", detail::type_name(value_.type()));
    return *value;
  }
  const std::type_info& type_info() const { return value_.type(); }

 private:
  std::any value_;
};

namespace detail {

template <class T>
struct forward_signature;
template <class M, class R, class... A>
struct forward_signature<R (M::*)(A...)> {
  using Result = R;
  using Arguments = std::tuple<std::decay_t<A>...>;
  static constexpr size_t count = sizeof...(A);
};
template <class M, class R, class... A>
struct forward_signature<R (M::*)(A...) const> : forward_signature<R (M::*)(A...)> {};

template <class M, class = void>
inline constexpr size_t default_arguments = 0;
/// How many trailing arguments may be left out because a value-made one will do: an undefined
/// tensor.
template <class M>
inline constexpr size_t default_arguments<M, std::void_t<decltype(M::kForwardDefaultArguments)>> =
    M::kForwardDefaultArguments;

/// A module with its forward's types hidden.
class AnyForward {
 public:
  virtual ~AnyForward() = default;
  virtual AnyValue call(std::vector<AnyValue>& arguments) = 0;
  virtual std::shared_ptr<Module> module() const = 0;
  virtual std::unique_ptr<AnyForward> with(std::shared_ptr<Module> module) const = 0;
};

template <class M>
class ForwardOf : public AnyForward {
 public:
  explicit ForwardOf(std::shared_ptr<M> module) : module_(std::move(module)) {}
  AnyValue call(std::vector<AnyValue>& arguments) override {
    using Signature = forward_signature<decltype(&M::forward)>;
    for (auto& [position, value] : declared_defaults()) {
      if (arguments.size() == position) arguments.push_back(std::move(value));
    }
    TAPER_CHECK(arguments.size() <= Signature::count &&
                    arguments.size() + default_arguments<M> >= Signature::count,
                module_->name(), "'s forward() method expects ", Signature::count,
                " argument(s), but received ", arguments.size(),
                ". If forward has default arguments, list them with FORWARD_HAS_DEFAULT_ARGS");
    return invoke(arguments, std::make_index_sequence<Signature::count>());
  }
  std::shared_ptr<Module> module() const override { return module_; }
  std::unique_ptr<AnyForward> with(std::shared_ptr<Module> module) const override {
    return std::make_unique<ForwardOf>(std::static_pointer_cast<M>(std::move(module)));
  }

 private:
  // What TAPER_FORWARD_DEFAULTS lists; a friend of the module, since programs write it where they
  // like.
  static std::vector<std::pair<size_t, AnyValue>> declared_defaults() {
    if constexpr (requires { M::forward_defaults_(); }) {
      return M::forward_defaults_();
    } else {
      return {};
    }
  }
  template <size_t... I>
  AnyValue invoke(std::vector<AnyValue>& arguments, std::index_sequence<I...>) {
    using Signature = forward_signature<decltype(&M::forward)>;
    return AnyValue(module_->forward(
        argument<std::tuple_element_t<I, typename Signature::Arguments>>(arguments, I)...));
  }
  template <class T>
  T argument(std::vector<AnyValue>& arguments, size_t i) {
    if (i >= arguments.size()) return T{};
    T* value = arguments[i].try_get<T>();
    TAPER_CHECK(value, "Expected argument #", i, " of ", module_->name(),
                "'s forward() to be of type ", type_name(typeid(T)),
                ", but received value of type ", type_name(arguments[i].type_info()));
    return *value;
  }
  std::shared_ptr<M> module_;
};

}  // namespace detail

/// Holds a module of any type and calls its forward: what Sequential is made of.
class AnyModule {
 public:
  AnyModule() = default;
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M>>>
  explicit AnyModule(std::shared_ptr<M> module)
      : forward_(std::make_shared<detail::ForwardOf<M>>(std::move(module))) {}
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>,
            class = void>
  explicit AnyModule(M&& module)
      : AnyModule(std::make_shared<std::decay_t<M>>(std::forward<M>(module))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}

  bool is_empty() const noexcept { return forward_ == nullptr; }
  AnyValue any_forward(std::vector<AnyValue> arguments) {
    TAPER_CHECK(!is_empty(), "Cannot call forward() on an empty AnyModule");
    return forward_->call(arguments);
  }
  template <class Result = Tensor, class... Arguments>
  Result forward(Arguments&&... arguments) {
    std::vector<AnyValue> values;
    values.reserve(sizeof...(arguments));
    (values.emplace_back(std::forward<Arguments>(arguments)), ...);
    return any_forward(std::move(values)).template get<Result>();
  }
  std::shared_ptr<Module> ptr() const {
    TAPER_CHECK(!is_empty(), "Cannot call ptr() on an empty AnyModule");
    return forward_->module();
  }
  template <class M>
  std::shared_ptr<M> ptr() const {
    auto module = std::dynamic_pointer_cast<M>(ptr());
    TAPER_CHECK(module, "Attempted to cast module of type ", detail::type_name(type_info()),
                " to type ", detail::type_name(typeid(M)));
    return module;
  }
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M>>>
  M& get() const {
    return *ptr<M>();
  }
  AnyModule clone(std::optional<Device> device = std::nullopt) const {
    AnyModule copy;
    if (!is_empty()) copy.forward_ = forward_->with(ptr()->clone(device));
    return copy;
  }
  const std::type_info& type_info() const {
    const Module& module = *ptr();
    return typeid(module);
  }

 private:
  std::shared_ptr<detail::AnyForward> forward_;
};

/// A module with a name: `Sequential({{"fc1", Linear(2, 3)}, {"act", ReLU()}})`.
class NamedAnyModule {
 public:
  template <class M>
  NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(AnyModule(std::forward<M>(module))) {}
  NamedAnyModule(std::string name, AnyModule module)
      : name_(std::move(name)), module_(std::move(module)) {}
  const std::string& name() const { return name_; }
  AnyModule& module() { return module_; }
  const AnyModule& module() const { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace taper::nn

/// Inside a module: positions and values of forward's default arguments, which AnyModule can't see.
/// `TAPER_FORWARD_DEFAULTS({1, nn::AnyValue(false)}, {2, nn::AnyValue(0.5)})`
#define TAPER_FORWARD_DEFAULTS(...)                                                  \
  template <class>                                                                   \
  friend class ::taper::nn::detail::ForwardOf;                                       \
  static std::vector<std::pair<size_t, ::taper::nn::AnyValue>> forward_defaults_() { \
    return {__VA_ARGS__};                                                            \
  }
