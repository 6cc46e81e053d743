#include "taper/core/ivalue.h"

namespace taper {

IValue::IValue(const Scalar& number) {
  if (number.isBoolean()) {
    value_ = number.toBool();
  } else if (number.isFloatingPoint()) {
    value_ = number.toDouble();
  } else {
    value_ = number.toLong();
  }
}

Scalar IValue::toScalar() const {
  if (isBool()) return toBool();
  if (isInt()) return toInt();
  return toDouble();
}

const char* IValue::kind_name(size_t kind) {
  constexpr const char* kNames[] = {"None",   "Bool",  "Int",      "Double",   "String",
                                    "Tensor", "Int[]", "Double[]", "String[]", "Tensor[]"};
  static_assert(std::size(kNames) == std::variant_size_v<Value>);
  return kNames[kind];
}

void IValue::fail_kind(size_t wanted) const {
  detail::fail<TypeError>("Expected ", kind_name(wanted), " but got ", tagKind());
}

}  // namespace taper
