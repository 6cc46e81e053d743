#pragma once

#include <initializer_list>
#include <ostream>

#include "taper/nn/any.h"

namespace taper::nn {

/// Calls its modules one after another, each with what the one before returned. Named "0", "1", ...
/// unless names are given: `Sequential({{"fc", Linear(4, 2)}, {"act", ReLU()}})`.
class TAPER_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl();
  SequentialImpl(const SequentialImpl&);
  SequentialImpl(SequentialImpl&&);
  SequentialImpl& operator=(const SequentialImpl&);
  ~SequentialImpl() override;
  /// Modules by value, by shared_ptr or in holders.
  template <class First, class... Rest,
            class = std::enable_if_t<
                !std::is_base_of_v<SequentialImpl, std::decay_t<First>> &&
                !std::is_same_v<std::decay_t<First>, std::initializer_list<NamedAnyModule>>>>
  explicit SequentialImpl(First&& first, Rest&&... rest) : SequentialImpl() {
    modules_.reserve(1 + sizeof...(Rest));
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);

  /// Copies of the modules, under the same names.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// The first module takes all arguments. `forward<std::tuple<Tensor, Tensor>>(x)` names what the
  /// last one returns.
  template <class Result = Tensor, class... Arguments>
  Result forward(Arguments&&... arguments) {
    std::vector<AnyValue> values;
    values.reserve(sizeof...(arguments));
    (values.emplace_back(std::forward<Arguments>(arguments)), ...);
    AnyValue out = any_forward(std::move(values));
    Result* result = out.try_get<Result>();
    if (TAPER_UNLIKELY(!result)) fail_result(out.type_info(), typeid(Result));
    return std::move(*result);
  }
  AnyValue any_forward(std::vector<AnyValue> arguments);

  template <class M>
  void push_back(std::shared_ptr<M> module) {
    push_back(next_name(), AnyModule(std::move(module)));
  }
  template <class M>
  void push_back(std::string name, std::shared_ptr<M> module) {
    push_back(std::move(name), AnyModule(std::move(module)));
  }
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>>
  void push_back(M&& module) {
    push_back(next_name(), AnyModule(std::forward<M>(module)));
  }
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), AnyModule(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& module) {
    push_back(next_name(), AnyModule(module.ptr()));
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& module) {
    push_back(std::move(name), AnyModule(module.ptr()));
  }
  void push_back(AnyModule module);
  void push_back(std::string name, AnyModule module);
  void push_back(const NamedAnyModule& module);
  /// Every module of a container, under new numbers.
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }

  /// The module as what it is: `at<LinearImpl>(0).weight`.
  template <class M>
  M& at(size_t index) {
    return checked(index).get<M>();
  }
  template <class M>
  const M& at(size_t index) const {
    return checked(index).get<M>();
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  template <class M>
  std::shared_ptr<M> ptr(size_t index) const {
    return checked(index).ptr<M>();
  }
  std::shared_ptr<Module> operator[](size_t index) const;
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  std::string next_name() const;
  const AnyModule& checked(size_t index) const;
  [[noreturn]] static void fail_result(const std::type_info& is, const std::type_info& wanted);

  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential() = default;
  TAPER_API Sequential(std::initializer_list<NamedAnyModule> modules);
  using Impl [[maybe_unused]] = SequentialImpl;
};

namespace detail {

/// A Sequential inside another: its forward is a template, so its values pass as they are.
template <>
class TAPER_API ForwardOf<SequentialImpl> : public AnyForward {
 public:
  explicit ForwardOf(std::shared_ptr<SequentialImpl> module);
  AnyValue call(std::vector<AnyValue>& arguments) override;
  std::shared_ptr<Module> module() const override;
  std::unique_ptr<AnyForward> with(std::shared_ptr<Module> module) const override;

 private:
  std::shared_ptr<SequentialImpl> module_;
};

}  // namespace detail
}  // namespace taper::nn
