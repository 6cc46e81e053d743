#include "taper/core/scalar.h"

#include <ostream>

namespace taper {

std::ostream& operator<<(std::ostream& out, const Scalar& value) {
  if (value.isBoolean()) return out << (value.toBool() ? "true" : "false");
  if (value.isFloatingPoint()) return out << value.toDouble();
  return out << value.toLong();
}

namespace detail {

MessageBuilder& operator<<(MessageBuilder& message, const Scalar& value) {
  if (value.isBoolean()) return message << value.toBool();
  if (value.isFloatingPoint()) return message << value.toDouble();
  return message << value.toLong();
}

}  // namespace detail

}  // namespace taper
