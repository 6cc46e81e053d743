#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "taper/core/tensor.h"

namespace taper {

/// A value of one of the kinds that programs keep beside tensors: nothing, a number, a text, a
/// tensor, or a list of them. What a custom function's `saved_data` and an archive hold. `toX`
/// throws for another kind.
class TAPER_API IValue {
 public:
  // Defined elsewhere: a variant of ten is dear to whoever includes this.
  IValue();
  IValue(const IValue&);
  IValue(IValue&&) noexcept;
  IValue& operator=(const IValue&);
  IValue& operator=(IValue&&) noexcept;
  ~IValue();

  IValue(std::nullptr_t);
  IValue(bool value);
  IValue(double value);
  IValue(float value);
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  IValue(T value) : IValue(Integer{static_cast<int64_t>(value)}) {}
  IValue(const char* text);
  IValue(std::string text);
  IValue(Tensor tensor);
  IValue(const Scalar& number);
  IValue(std::vector<int64_t> values);
  IValue(IntArrayRef values);
  IValue(std::vector<double> values);
  IValue(std::vector<std::string> values);
  IValue(std::vector<Tensor> values);
  template <class T>
  IValue(const std::optional<T>& value) {
    if (value) *this = IValue(*value);
  }

  bool isNone() const { return holds<std::monostate>(); }
  bool isBool() const { return holds<bool>(); }
  bool isInt() const { return holds<int64_t>(); }
  bool isDouble() const { return holds<double>(); }
  bool isScalar() const { return isInt() || isDouble() || isBool(); }
  bool isString() const { return holds<std::string>(); }
  bool isTensor() const { return holds<Tensor>(); }
  bool isIntList() const { return holds<std::vector<int64_t>>(); }
  bool isDoubleList() const { return holds<std::vector<double>>(); }
  bool isTensorList() const { return holds<std::vector<Tensor>>(); }
  bool isList() const { return value_.index() >= kFirstList; }

  bool toBool() const { return get<bool>(); }
  int64_t toInt() const { return get<int64_t>(); }
  double toDouble() const { return get<double>(); }
  Scalar toScalar() const;
  const std::string& toStringRef() const { return get<std::string>(); }
  std::string toString() const { return toStringRef(); }
  std::string_view toStringView() const { return toStringRef(); }
  const Tensor& toTensor() const { return get<Tensor>(); }
  std::vector<int64_t> toIntVector() const { return get<std::vector<int64_t>>(); }
  std::vector<double> toDoubleVector() const { return get<std::vector<double>>(); }
  std::vector<std::string> toStringVector() const { return get<std::vector<std::string>>(); }
  std::vector<Tensor> toTensorVector() const { return get<std::vector<Tensor>>(); }
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return toBool();
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(toInt());
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(toDouble());
    } else {
      return get<T>();
    }
  }

  /// "Int", "Double[]"
  const char* tagKind() const { return kind_name(value_.index()); }

 private:
  struct Integer {
    int64_t value;
  };
  explicit IValue(Integer number);

  using Value =
      std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, std::vector<int64_t>,
                   std::vector<double>, std::vector<std::string>, std::vector<Tensor>>;
  static constexpr size_t kFirstList = 6;

  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  template <class T>
  const T& get() const {
    const T* value = std::get_if<T>(&value_);
    if (TAPER_UNLIKELY(!value)) fail_kind(IValue(T{}).value_.index());
    return *value;
  }
  static const char* kind_name(size_t kind);
  [[noreturn]] TAPER_COLD void fail_kind(size_t wanted) const;

  Value value_;
};

}  // namespace taper
