#pragma once

#include "taper/core/ops.h"

// The implementations behind the catalogue: taper::ops::NAME for every function and method of
// core/ops.def. Inside the library, call the public functions and methods: those pass the gate
// (dispatch.cpp).

namespace taper::ops {

#define TAPER_OP(result, name, policy, ...) \
  result name(const Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__));
#define TAPER_OVERLOAD(result, name, ...) \
  result name(const Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__));
#define TAPER_METHOD(result, name, policy, ...) \
  result name(const Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__));
#define TAPER_INPLACE(name, ...) Tensor& name(Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__));
#define TAPER_OUT(name, ...) \
  Tensor& name(Tensor& out, const Tensor& self TAPER_DEFINE_ARGS_MORE(__VA_ARGS__));
#define TAPER_FUNCTION(result, name, policy, ...) result name(TAPER_DEFINE_ARGS(__VA_ARGS__));
#define TAPER_FUNCTION_OVERLOAD(result, name, ...) result name(TAPER_DEFINE_ARGS(__VA_ARGS__));
#include "taper/core/ops.def"
#undef TAPER_OP
#undef TAPER_OVERLOAD
#undef TAPER_METHOD
#undef TAPER_INPLACE
#undef TAPER_OUT
#undef TAPER_FUNCTION
#undef TAPER_FUNCTION_OVERLOAD

/// What is left to the out= forms that the catalogue makes: their result was computed already.
Tensor& move_into(const char* op, Tensor& out, const Tensor& result);
std::tuple<Tensor&, Tensor&> move_into(const char* op, Tensor& first, Tensor& second,
                                       const TensorPair& results);

}  // namespace taper::ops
