#pragma once

#include "c10/util/Exception.h"

// AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "name", [&] { ... scalar_t ... }): runs the lambda
// with scalar_t as the element type; other types than those listed throw.

#define AT_DISPATCH_CASE(dtype, ...)                                             \
  case dtype: {                                                                  \
    using scalar_t [[maybe_unused]] = ::c10::detail::dispatch_type<dtype>::type; \
    return __VA_ARGS__();                                                        \
  }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                       \
  [&] {                                                                           \
    const ::c10::ScalarType taper_dtype = TYPE;                                   \
    switch (taper_dtype) {                                                        \
      __VA_ARGS__                                                                 \
      default:                                                                    \
        TORCH_CHECK_NOT_IMPLEMENTED(false, '"', NAME, "\" not implemented for '", \
                                    ::c10::toString(taper_dtype), "'");           \
    }                                                                             \
  }()

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)               \
  AT_DISPATCH_CASE(::c10::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)             \
  AT_DISPATCH_CASE(::c10::ScalarType::Byte, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Char, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Int, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::c10::ScalarType::Long, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)        \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...)      \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                  \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(DTYPE, TYPE, NAME, ...)    \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                  \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(DTYPE, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(DTYPE1, DTYPE2, TYPE, NAME, ...)            \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                    \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE( \
                         DTYPE1, __VA_ARGS__) AT_DISPATCH_CASE(DTYPE2, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(DTYPE, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                          \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(DTYPE, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(DTYPE1, DTYPE2, TYPE, NAME, ...)                                \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                                   \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(DTYPE1, __VA_ARGS__) \
                         AT_DISPATCH_CASE(DTYPE2, __VA_ARGS__))
/// index_t is the element type.
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                               \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                               \
                     TAPER_DISPATCH_INDEX(::c10::ScalarType::Int, __VA_ARGS__) \
                         TAPER_DISPATCH_INDEX(::c10::ScalarType::Long, __VA_ARGS__))
#define TAPER_DISPATCH_INDEX(dtype, ...)                                        \
  case dtype: {                                                                 \
    using index_t [[maybe_unused]] = ::c10::detail::dispatch_type<dtype>::type; \
    return __VA_ARGS__();                                                       \
  }

namespace c10::detail {

template <ScalarType dtype>
struct dispatch_type;
#define TAPER_DISPATCH_TYPE(cpp, name, python) \
  template <>                                  \
  struct dispatch_type<ScalarType::name> {     \
    using type = cpp;                          \
  };
TAPER_FORALL_DTYPES(TAPER_DISPATCH_TYPE)
#undef TAPER_DISPATCH_TYPE

}  // namespace c10::detail
