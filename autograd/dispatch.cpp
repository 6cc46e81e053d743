// The gate: every public function and method of the catalogue passes here on its way to its
// implementation. One thread-local word says whether anything looks on; autocast, profiling and
// tracing attach here.

#include "taper/autograd/observer.h"
#include "taper/autograd/ops/ops.h"
#include "taper/core/thread_state.h"

namespace taper {

namespace {

TAPER_INLINE void pass_gate(OpId op) {
  if (TAPER_UNLIKELY(detail::thread_state.mode & detail::kModeObserve)) autograd::announce(op);
}

[[noreturn]] TAPER_COLD void fail_undefined(OpId op) {
  detail::fail<Error>(
      op_name(op),
      ": Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument "
      "'self'. "
      "It was default-constructed, moved from, or is a gradient that was never computed.");
}

TAPER_INLINE void pass_gate(OpId op, const Tensor& self) {
  if (TAPER_UNLIKELY(!self.defined())) fail_undefined(op);
  pass_gate(op);
}

}  // namespace

namespace autograd {

OpObserver::OpObserver(std::function<void(OpId)> callback)
    : callback_(std::move(callback)),
      previous_(static_cast<OpObserver*>(detail::thread_state.observer)),
      previous_mode_(detail::thread_state.mode) {
  detail::thread_state.observer = this;
  detail::thread_state.mode |= detail::kModeObserve;
}

OpObserver::~OpObserver() {
  detail::thread_state.observer = previous_;
  detail::thread_state.mode =
      (detail::thread_state.mode & ~detail::kModeObserve) | (previous_mode_ & detail::kModeObserve);
}

void announce(OpId op) {
  if (auto* observer = static_cast<OpObserver*>(detail::thread_state.observer)) {
    observer->callback_(op);
  }
}

}  // namespace autograd

// ---- Functions.
#define TAPER_OP(result, name, policy, ...)                             \
  result name(const Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__)) { \
    pass_gate(OpId::name, self);                                        \
    return ops::name(self TAPER_PASS_ARGS_MORE(__VA_ARGS__));           \
  }
#define TAPER_OVERLOAD(result, name, ...) TAPER_OP(result, name, , __VA_ARGS__)
#define TAPER_METHOD(...)
#define TAPER_INPLACE(name, ...)                                   \
  Tensor& name(Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__)) { \
    return ops::name(self TAPER_PASS_ARGS_MORE(__VA_ARGS__));      \
  }
#define TAPER_OUT(name, ...)                                                          \
  Tensor& name(Tensor& out, const Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__)) { \
    return ops::name(out, self TAPER_PASS_ARGS_MORE(__VA_ARGS__));                    \
  }
#define TAPER_FUNCTION(result, name, policy, ...)   \
  result name(TAPER_DEFINE_ARGS(__VA_ARGS__)) {     \
    pass_gate(OpId::name);                          \
    return ops::name(TAPER_PASS_ARGS(__VA_ARGS__)); \
  }
#define TAPER_FUNCTION_OVERLOAD(result, name, ...) TAPER_FUNCTION(result, name, , __VA_ARGS__)
#define TAPER_OUT_OF_Tensor(name, ...)                                                      \
  Tensor& name##_out(Tensor& out, const Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__)) { \
    return ops::move_into(#name, out, taper::name(self TAPER_PASS_ARGS_MORE(__VA_ARGS__))); \
  }
#define TAPER_OUT_OF_TensorPair(name, ...)                                                     \
  std::tuple<Tensor&, Tensor&> name##_out(                                                     \
      Tensor& first, Tensor& second, const Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__)) { \
    return ops::move_into(#name, first, second,                                                \
                          taper::name(self TAPER_PASS_ARGS_MORE(__VA_ARGS__)));                \
  }
#define TAPER_FUNCTION_OUT_OF(name, ...)                                          \
  Tensor& name##_out(Tensor& out, TAPER_DEFINE_ARGS(__VA_ARGS__)) {               \
    return ops::move_into(#name, out, taper::name(TAPER_PASS_ARGS(__VA_ARGS__))); \
  }
#include "taper/core/ops.def"
#undef TAPER_OP
#undef TAPER_OVERLOAD
#undef TAPER_METHOD
#undef TAPER_INPLACE
#undef TAPER_OUT
#undef TAPER_FUNCTION
#undef TAPER_FUNCTION_OVERLOAD

// ---- Methods.
#define TAPER_OP(result, name, policy, ...)                    \
  result Tensor::name(TAPER_DEFINE_ARGS(__VA_ARGS__)) const {  \
    pass_gate(OpId::name, *this);                              \
    return ops::name(*this TAPER_PASS_ARGS_MORE(__VA_ARGS__)); \
  }
#define TAPER_OVERLOAD(result, name, ...) TAPER_OP(result, name, , __VA_ARGS__)
#define TAPER_METHOD(result, name, policy, ...) TAPER_OP(result, name, policy, __VA_ARGS__)
#define TAPER_INPLACE(name, ...)                                                    \
  Tensor& Tensor::name(TAPER_DEFINE_ARGS(__VA_ARGS__)) const {                      \
    return ops::name(const_cast<Tensor&>(*this) TAPER_PASS_ARGS_MORE(__VA_ARGS__)); \
  }
#define TAPER_OUT(...)
#define TAPER_FUNCTION(...)
#define TAPER_FUNCTION_OVERLOAD(...)
#include "taper/core/ops.def"
#undef TAPER_OP
#undef TAPER_OVERLOAD
#undef TAPER_METHOD
#undef TAPER_INPLACE
#undef TAPER_OUT
#undef TAPER_FUNCTION
#undef TAPER_FUNCTION_OVERLOAD

// ---- What the catalogue says about each op.
namespace {

struct OpInfo {
  const char* name;
  AutocastPolicy policy;
};

constexpr OpInfo kOps[] = {
#define TAPER_OP(result, name, policy, ...) {#name, AutocastPolicy::policy},
#define TAPER_METHOD(result, name, policy, ...) {#name, AutocastPolicy::policy},
#define TAPER_FUNCTION(result, name, policy, ...) {#name, AutocastPolicy::policy},
#define TAPER_OVERLOAD(...)
#define TAPER_INPLACE(...)
#define TAPER_OUT(...)
#define TAPER_FUNCTION_OVERLOAD(...)
#include "taper/core/ops.def"
#undef TAPER_OP
#undef TAPER_OVERLOAD
#undef TAPER_METHOD
#undef TAPER_INPLACE
#undef TAPER_OUT
#undef TAPER_FUNCTION
#undef TAPER_FUNCTION_OVERLOAD
};

}  // namespace

const char* op_name(OpId op) { return kOps[static_cast<int>(op)].name; }
AutocastPolicy autocast_policy(OpId op) { return kOps[static_cast<int>(op)].policy; }

}  // namespace taper
