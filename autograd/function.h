#pragma once

#include <memory>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include "taper/autograd/autograd.h"
#include "taper/autograd/grad_mode.h"
#include "taper/core/ivalue.h"

// Ops that a program defines itself, with a forward and a backward of its own.

namespace taper::autograd {

using tensor_list = std::vector<Tensor>;

class AutogradContext;
namespace detail {
struct FunctionCall;
struct FunctionBackward;
/// Puts the call on the tape where one of its inputs requires grad, and returns its outputs as they
/// are then.
TAPER_API variable_list record_function(FunctionCall&& call, variable_list outputs);
}  // namespace detail

/// What a custom function's forward leaves for its backward.
class TAPER_API AutogradContext {
 public:
  AutogradContext();
  ~AutogradContext();
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Numbers, texts and the like. Inputs and outputs belong in `save_for_backward`, which guards
  /// their versions and makes no reference cycle.
  std::unordered_map<std::string, IValue> saved_data;

  /// Keeps tensors, inputs or outputs of this call or others. Undefined ones stay undefined.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// What was saved. Throws when one was changed in place since, or after a backward pass freed
  /// them.
  variable_list get_saved_variables() const;
  /// Inputs that forward changes in place; all of them have to be among its results.
  void mark_dirty(const variable_list& inputs);
  /// Results that get no gradient: those of an integer kind need not be named.
  void mark_non_differentiable(const variable_list& outputs);
  /// Whether gradients that nothing depended on arrive as zeros (the default) or undefined.
  void set_materialize_grads(bool on) { materialize_grads_ = on; }
  /// Whether anybody wants the gradient of the i-th tensor among the inputs. For use in backward.
  bool needs_input_grad(size_t i) const;

 private:
  friend variable_list detail::record_function(detail::FunctionCall&&, variable_list);
  friend struct detail::FunctionBackward;

  variable_list to_save_;  // between forward and the node's making
  std::unordered_set<TensorImpl*> dirty_, non_differentiable_;
  bool materialize_grads_ = true;
  Node* node_ = nullptr;  // owns this
};

namespace detail {

/// One call of a custom function, its forward done or about to be.
struct TAPER_API FunctionCall {
  using Rule = variable_list (*)(AutogradContext*, variable_list&&);
  FunctionCall(const char* name, Rule rule);
  ~FunctionCall();

  const char* name;
  Rule rule;
  std::shared_ptr<AutogradContext> context;
  variable_list inputs;         ///< the tensors among the arguments
  std::vector<bool> is_tensor;  ///< per argument

  void add(const Tensor& argument) {
    inputs.push_back(argument);
    is_tensor.push_back(true);
  }
  void add(const std::optional<Tensor>& argument) { add(argument.value_or(Tensor())); }
  template <class T>
  void add(const T&) {
    is_tensor.push_back(false);
  }
};

/// "ScaledBackward" for a class Scaled in any namespace.
TAPER_API std::string function_name(const char* mangled);
inline variable_list to_list(variable_list&& tensors) { return std::move(tensors); }
inline variable_list to_list(Tensor&& tensor) { return {std::move(tensor)}; }
inline void from_list(variable_list&& list, variable_list& tensors) { tensors = std::move(list); }
inline void from_list(variable_list&& list, Tensor& tensor) { tensor = std::move(list[0]); }

}  // namespace detail

/// The base of a custom function:
///
///     struct Cube : autograd::Function<Cube> {
///       static Tensor forward(AutogradContext* ctx, const Tensor& x) {
///         ctx->save_for_backward({x});
///         return x * x * x;
///       }
///       static variable_list backward(AutogradContext* ctx, variable_list grads) {
///         const Tensor x = ctx->get_saved_variables()[0];
///         return {grads[0] * 3 * x * x};
///       }
///     };
///     Cube::apply(x).sum().backward();
///
/// forward takes tensors and other values, and is not recorded; it returns a Tensor or a
/// variable_list. backward returns a gradient for each of forward's arguments, undefined for those
/// that are no tensors. It is recorded under `create_graph`, so that it can be differentiated
/// again.
template <class Self>
struct Function {
  template <class Derived = Self, class... Arguments>
  static auto apply(Arguments&&... arguments) {
    static_assert(std::is_same_v<Derived, Self>);
    static const std::string name = detail::function_name(typeid(Derived).name());
    detail::FunctionCall call(name.c_str(), [](AutogradContext* context, variable_list&& grads) {
      return detail::to_list(Derived::backward(context, std::move(grads)));
    });
    (call.add(arguments), ...);
    AutogradContext* context = call.context.get();
    const auto forward = [&] {
      const NoGradGuard quiet;
      return Derived::forward(context, std::forward<Arguments>(arguments)...);
    };
    auto result = forward();
    detail::from_list(
        detail::record_function(std::move(call), detail::to_list(decltype(result)(result))),
        result);
    return result;
  }
};

}  // namespace taper::autograd
