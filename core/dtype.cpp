#include "taper/core/dtype.h"

#include <ostream>
#include <utility>

#include "taper/core/error.h"
#include "taper/core/scalar.h"

namespace taper {

namespace {

constexpr const char* kNames[] = {
#define TAPER_NAME(type, name, python) #name,
    TAPER_FORALL_DTYPES(TAPER_NAME)
#undef TAPER_NAME
        "Undefined"};

constexpr const char* kPythonNames[] = {
#define TAPER_NAME(type, name, python) python,
    TAPER_FORALL_DTYPES(TAPER_NAME)
#undef TAPER_NAME
        "undefined"};

// As LibTorch's typeid names read; programs print and compare them.
constexpr const char* kTypeNames[] = {"bool",
                                      "unsigned char",
                                      "signed char",
                                      "short int",
                                      "int",
                                      "long int",
                                      "c10::Half",
                                      "c10::BFloat16",
                                      "float",
                                      "double",
                                      "nullptr (uninitialized)"};

ScalarType default_dtype = kFloat;

}  // namespace

const char* TypeMeta::name() const { return kTypeNames[static_cast<int>(type)]; }

const char* to_string(ScalarType dtype) { return kNames[static_cast<int>(dtype)]; }

const char* dtype_name(ScalarType dtype) { return kPythonNames[static_cast<int>(dtype)]; }

ScalarType promote_types(ScalarType a, ScalarType b) {
  // The enumerators stand in the order of promotion. In two pairs neither type holds the other's
  // values.
  if (a > b) std::swap(a, b);
  if (a == kByte && b == kChar) return kShort;
  if (a == kHalf && b == kBFloat16) return kFloat;
  return b;
}

ScalarType get_default_dtype_as_scalartype() {
  return __atomic_load_n(&default_dtype, __ATOMIC_RELAXED);
}

void set_default_dtype(ScalarType dtype) {
  TAPER_CHECK_TYPE(
      is_floating_point(dtype),
      "set_default_dtype: only floating-point types are supported as the default type, "
      "but got ",
      dtype_name(dtype));
  __atomic_store_n(&default_dtype, dtype, __ATOMIC_RELAXED);
}

std::ostream& operator<<(std::ostream& out, ScalarType dtype) { return out << to_string(dtype); }

std::ostream& operator<<(std::ostream& out, TypeMeta dtype) { return out << dtype.name(); }

namespace detail {
MessageBuilder& operator<<(MessageBuilder& message, ScalarType dtype) {
  return message << to_string(dtype);
}
}  // namespace detail

}  // namespace taper
