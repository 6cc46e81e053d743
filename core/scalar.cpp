#include "taper/core/scalar.h"

#include <ostream>

namespace taper {

std::ostream& operator<<(std::ostream& out, const Scalar& value) {
  if (value.isBoolean()) return out << (value.toBool() ? "true" : "false");
  if (value.isFloatingPoint()) return out << value.toDouble();
  return out << value.toLong();
}

void Scalar::check_fits(ScalarType dtype) const {
  switch (dtype) {
#define TAPER_CHECK_FITS(type, name, python) \
  case ScalarType::name:                     \
    (void)to<type>();                        \
    break;
    TAPER_FORALL_DTYPES(TAPER_CHECK_FITS)
#undef TAPER_CHECK_FITS
    case ScalarType::Undefined:
      break;
  }
}

namespace detail {

void fail_conversion(const char* type) {
  fail<Error>("value cannot be converted to type ", type, " without overflow");
}

MessageBuilder& operator<<(MessageBuilder& message, const Scalar& value) {
  if (value.isBoolean()) return message << value.toBool();
  if (value.isFloatingPoint()) return message << value.toDouble();
  return message << value.toLong();
}

}  // namespace detail

}  // namespace taper
