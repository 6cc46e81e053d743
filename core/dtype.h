#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "taper/core/half.h"
#include "taper/core/macros.h"

namespace taper {

// The one list of element types: C++ type, name in LibTorch, name in Python.
// Order is that of promotion among numbers; the enumerators' values are Taper's own.
#define TAPER_FORALL_DTYPES(_)               \
  _(bool, Bool, "bool")                      \
  _(uint8_t, Byte, "uint8")                  \
  _(int8_t, Char, "int8")                    \
  _(int16_t, Short, "int16")                 \
  _(int32_t, Int, "int32")                   \
  _(int64_t, Long, "int64")                  \
  _(::taper::Half, Half, "float16")          \
  _(::taper::BFloat16, BFloat16, "bfloat16") \
  _(float, Float, "float32")                 \
  _(double, Double, "float64")

/// Element type of a tensor.
enum class ScalarType : int8_t {
#define TAPER_ENUMERATOR(type, name, python) name,
  TAPER_FORALL_DTYPES(TAPER_ENUMERATOR)
#undef TAPER_ENUMERATOR
      Undefined,
};
using Dtype = ScalarType;

constexpr int kNumScalarTypes = static_cast<int>(ScalarType::Undefined);

constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = kChar;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = kShort;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = kInt;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = kLong;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = kHalf;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = kDouble;

/// Maps a C++ element type to its ScalarType: `dtype_of<float> == kFloat`.
template <class T>
constexpr ScalarType dtype_of = ScalarType::Undefined;
#define TAPER_DTYPE_OF(type, name, python) \
  template <>                              \
  inline constexpr ScalarType dtype_of<type> = ScalarType::name;
TAPER_FORALL_DTYPES(TAPER_DTYPE_OF)
#undef TAPER_DTYPE_OF
#if defined(__LP64__)
// int64_t is `long` here; programs also write `long long`.
template <>
inline constexpr ScalarType dtype_of<long long> = ScalarType::Long;
#endif

/// Bytes of one element.
constexpr size_t element_size(ScalarType dtype) {
  constexpr size_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 0};
  return sizes[static_cast<int>(dtype)];
}

constexpr bool is_floating_point(ScalarType dtype) {
  return dtype >= ScalarType::Half && dtype <= ScalarType::Double;
}
constexpr bool is_reduced_floating_point(ScalarType dtype) {
  return dtype == ScalarType::Half || dtype == ScalarType::BFloat16;
}
constexpr bool is_integral(ScalarType dtype, bool include_bool) {
  return dtype >= (include_bool ? ScalarType::Bool : ScalarType::Byte) && dtype <= ScalarType::Long;
}
constexpr bool is_signed(ScalarType dtype) {
  return dtype >= ScalarType::Char && dtype <= ScalarType::Double;
}

/// What `Tensor::dtype()` returns: a ScalarType that prints and compares as LibTorch's type does.
struct TypeMeta {
  ScalarType type = ScalarType::Undefined;

  constexpr TypeMeta() = default;
  constexpr TypeMeta(ScalarType scalar_type) : type(scalar_type) {}
  constexpr operator ScalarType() const { return type; }
  constexpr ScalarType toScalarType() const { return type; }
  constexpr size_t itemsize() const { return element_size(type); }
  /// "float", "double", "long int", ...: the C++ name.
  TAPER_API const char* name() const;

  template <class T>
  static constexpr TypeMeta Make() {
    return TypeMeta(dtype_of<T>);
  }
};

/// "Float", "Long", ...: LibTorch's name.
TAPER_API const char* to_string(ScalarType dtype);
/// "float32", "int64", ...: Python's name, used in error messages and files.
TAPER_API const char* dtype_name(ScalarType dtype);

/// The common type of two, by PyTorch's table, for operands of equal rank (see `result_type`).
TAPER_API ScalarType promote_types(ScalarType a, ScalarType b);

TAPER_API ScalarType get_default_dtype_as_scalartype();
/// Sets the type of factories without a dtype. Throws unless `dtype` is floating.
TAPER_API void set_default_dtype(ScalarType dtype);

TAPER_API std::ostream& operator<<(std::ostream& out, ScalarType dtype);
TAPER_API std::ostream& operator<<(std::ostream& out, TypeMeta dtype);

}  // namespace taper
