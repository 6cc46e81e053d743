#pragma once

#include "taper/core/tensor.h"

// The free functions of the catalogue (ops.def), their identities and, in taper::ops, the
// implementations behind them. Documentation of each op stands at its line in the catalogue.

namespace taper {

enum class AutocastPolicy : uint8_t { AsIs, Lower, Full, Widest, Banned };

enum class OpId : uint16_t {
#define TAPER_OP(result, name, policy, ...) name,
#define TAPER_METHOD(result, name, policy, ...) name,
#define TAPER_FUNCTION(result, name, policy, ...) name,
#define TAPER_OVERLOAD(...)
#define TAPER_INPLACE(...)
#define TAPER_OUT(...)
#define TAPER_FUNCTION_OVERLOAD(...)
#include "taper/core/ops.def"
#undef TAPER_OP
#undef TAPER_METHOD
#undef TAPER_FUNCTION
#undef TAPER_OVERLOAD
#undef TAPER_INPLACE
#undef TAPER_OUT
#undef TAPER_FUNCTION_OVERLOAD
  kCount
};

/// "add", "conv2d", ...
TAPER_API const char* op_name(OpId op);
AutocastPolicy autocast_policy(OpId op);

#define TAPER_OP(result, name, policy, ...) \
  TAPER_API result name(const Tensor& self TAPER_DECLARE_ARGS_MORE(__VA_ARGS__));
#define TAPER_OVERLOAD(result, name, ...) \
  TAPER_API result name(const Tensor& self TAPER_DECLARE_ARGS_MORE(__VA_ARGS__));
#define TAPER_INPLACE(name, ...) \
  TAPER_API Tensor& name(Tensor& self TAPER_DECLARE_ARGS_MORE(__VA_ARGS__));
#define TAPER_OUT(name, ...) \
  TAPER_API Tensor& name(Tensor& out, const Tensor& self TAPER_DECLARE_ARGS_MORE(__VA_ARGS__));
#define TAPER_FUNCTION(result, name, policy, ...) \
  TAPER_API result name(TAPER_DECLARE_ARGS(__VA_ARGS__));
#define TAPER_FUNCTION_OVERLOAD(result, name, ...) \
  TAPER_API result name(TAPER_DECLARE_ARGS(__VA_ARGS__));
#define TAPER_OUT_OF_Tensor(name, ...) TAPER_OUT(name##_out __VA_OPT__(, ) __VA_ARGS__)
#define TAPER_OUT_OF_TensorPair(name, ...)           \
  TAPER_API std::tuple<Tensor&, Tensor&> name##_out( \
      Tensor& first, Tensor& second, const Tensor& self TAPER_DECLARE_ARGS_MORE(__VA_ARGS__));
#define TAPER_FUNCTION_OUT_OF(name, ...) \
  TAPER_API Tensor& name##_out(Tensor& out, TAPER_DECLARE_ARGS(__VA_ARGS__));
#define TAPER_METHOD(...)
#include "taper/core/ops.def"
#undef TAPER_OP
#undef TAPER_OVERLOAD
#undef TAPER_INPLACE
#undef TAPER_OUT
#undef TAPER_FUNCTION
#undef TAPER_FUNCTION_OVERLOAD
#undef TAPER_METHOD

// `a + b` and its kin, with a number on either side.
#define TAPER_OPERATOR(symbol, name)                                                    \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return a.name(b); } \
  inline Tensor operator symbol(const Tensor& a, const Scalar& b) { return a.name(b); }
TAPER_OPERATOR(+, add)
TAPER_OPERATOR(-, sub)
TAPER_OPERATOR(*, mul)
TAPER_OPERATOR(/, div)
TAPER_OPERATOR(%, remainder)
TAPER_OPERATOR(==, eq)
TAPER_OPERATOR(!=, ne)
TAPER_OPERATOR(<, lt)
TAPER_OPERATOR(<=, le)
TAPER_OPERATOR(>, gt)
TAPER_OPERATOR(>=, ge)
TAPER_OPERATOR(&, bitwise_and)
TAPER_OPERATOR(|, bitwise_or)
TAPER_OPERATOR(^, bitwise_xor)
#undef TAPER_OPERATOR

/// `self` with `values` written to (or added to) the indexed elements: index_put_ of a copy.
TAPER_API Tensor index_put(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& values,
                           bool accumulate = false);

inline Tensor operator+(const Scalar& a, const Tensor& b) { return b.add(a); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return rsub(b, a); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return b.mul(a); }
TAPER_API Tensor operator/(const Scalar& a, const Tensor& b);
TAPER_API Tensor operator%(const Scalar& a, const Tensor& b);
inline Tensor operator==(const Scalar& a, const Tensor& b) { return b.eq(a); }
inline Tensor operator!=(const Scalar& a, const Tensor& b) { return b.ne(a); }
inline Tensor operator<(const Scalar& a, const Tensor& b) { return b.gt(a); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return b.ge(a); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return b.lt(a); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return b.le(a); }
inline Tensor operator&(const Scalar& a, const Tensor& b) { return b.bitwise_and(a); }
inline Tensor operator|(const Scalar& a, const Tensor& b) { return b.bitwise_or(a); }
inline Tensor operator^(const Scalar& a, const Tensor& b) { return b.bitwise_xor(a); }

}  // namespace taper
