#include "taper/core/ivalue.h"

namespace taper {

IValue::IValue() = default;
IValue::IValue(const IValue&) = default;
IValue::IValue(IValue&&) noexcept = default;
IValue& IValue::operator=(const IValue&) = default;
IValue& IValue::operator=(IValue&&) noexcept = default;
IValue::~IValue() = default;

IValue::IValue(std::nullptr_t) {}
IValue::IValue(bool value) : value_(value) {}
IValue::IValue(double value) : value_(value) {}
IValue::IValue(float value) : value_(static_cast<double>(value)) {}
IValue::IValue(Integer number) : value_(number.value) {}
IValue::IValue(const char* text) : value_(std::string(text)) {}
IValue::IValue(std::string text) : value_(std::move(text)) {}
IValue::IValue(Tensor tensor) : value_(std::move(tensor)) {}
IValue::IValue(std::vector<int64_t> values) : value_(std::move(values)) {}
IValue::IValue(IntArrayRef values) : value_(values.vec()) {}
IValue::IValue(std::vector<double> values) : value_(std::move(values)) {}
IValue::IValue(std::vector<std::string> values) : value_(std::move(values)) {}
IValue::IValue(std::vector<Tensor> values) : value_(std::move(values)) {}

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
