#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <type_traits>

#include "taper/core/dtype.h"
#include "taper/core/error.h"

namespace taper {

namespace detail {

/// The name of an arithmetic type in messages, spelled as PyTorch spells it.
template <class T>
constexpr const char* conversion_name() {
  if constexpr (std::is_same_v<T, Half>) {
    return "c10::Half";
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return "c10::BFloat16";
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == sizeof(float) ? "float" : "double";
  } else {
    constexpr const char* kSigned[] = {"int8_t", "int16_t", "int", "int64_t"};
    constexpr const char* kUnsigned[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[log2] : kUnsigned[log2];
  }
}

/// The largest finite value of a floating type.
template <class T>
constexpr double largest() {
  if constexpr (std::is_same_v<T, Half>) {
    return 65504.0;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return 0x1.FEp127;
  } else {
    return static_cast<double>(std::numeric_limits<T>::max());
  }
}

/// Whether a number becomes a T without overflow. PyTorch's rules: infinity and NaN fit every
/// floating type, and -n fits an unsigned type that holds n (it wraps).
template <class T>
constexpr bool fits(int64_t value) {
  if constexpr (!std::is_integral_v<T>) {
    return static_cast<double>(value) <= largest<T>() &&
           static_cast<double>(value) >= -largest<T>();
  } else if constexpr (std::is_signed_v<T>) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  } else {
    const uint64_t magnitude =
        value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    return magnitude <= std::numeric_limits<T>::max();
  }
}
template <class T>
constexpr bool fits(double value) {
  if constexpr (std::is_integral_v<T>) {
    // 2^63 and 2^64 are the first doubles beyond; smaller types' largest values are exact.
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    const bool below = sizeof(T) == 8 ? value < high : value <= high;
    return value >= static_cast<double>(std::numeric_limits<T>::min()) && below;
  } else {
    const bool finite = value - value == 0;
    return !finite || (value <= largest<T>() && value >= -largest<T>());
  }
}

[[noreturn]] TAPER_API TAPER_COLD void fail_conversion(const char* type);

}  // namespace detail

/// A number with the kind it was written as: bool, integer or floating. Ops take it where PyTorch
/// takes a Python number; its kind, not its width, takes part in type promotion.
class TAPER_API Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Half> ||
                                          std::is_same_v<T, BFloat16>,
                                      int> = 0>
  Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::kBool;
      integer_ = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::kInteger;
      integer_ = static_cast<int64_t>(value);
    } else {
      kind_ = Kind::kFloating;
      floating_ = static_cast<double>(value);
    }
  }

  bool isBoolean() const { return kind_ == Kind::kBool; }
  bool isFloatingPoint() const { return kind_ == Kind::kFloating; }
  bool isIntegral(bool include_bool) const {
    return kind_ == Kind::kInteger || (include_bool && kind_ == Kind::kBool);
  }
  /// kBool, kLong or kDouble.
  ScalarType type() const {
    return kind_ == Kind::kBool ? kBool : kind_ == Kind::kInteger ? kLong : kDouble;
  }

  double toDouble() const {
    return kind_ == Kind::kFloating ? floating_ : static_cast<double>(integer_);
  }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return kind_ == Kind::kFloating ? floating_ != 0 : integer_ != 0; }
  /// Throws "value cannot be converted to type uint8_t without overflow" where it does not fit.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return toBool();
    } else {
      const bool fits =
          kind_ == Kind::kFloating ? detail::fits<T>(floating_) : detail::fits<T>(integer_);
      if (TAPER_UNLIKELY(!fits)) detail::fail_conversion(detail::conversion_name<T>());
      if constexpr (std::is_integral_v<T>) {
        return kind_ == Kind::kFloating ? static_cast<T>(floating_) : static_cast<T>(integer_);
      } else {
        return static_cast<T>(toDouble());
      }
    }
  }
  /// Throws what to<T>() would for the type of the dtype's elements.
  void check_fits(ScalarType dtype) const;
  bool equal(double value) const { return toDouble() == value; }
  Scalar operator-() const {
    return kind_ == Kind::kFloating ? Scalar(-floating_) : Scalar(-integer_);
  }

 private:
  enum class Kind : uint8_t { kBool, kInteger, kFloating };
  union {
    int64_t integer_;
    double floating_;
  };
  Kind kind_;
};

TAPER_API std::ostream& operator<<(std::ostream& out, const Scalar& value);
namespace detail {
TAPER_API MessageBuilder& operator<<(MessageBuilder& message, const Scalar& value);
TAPER_API MessageBuilder& operator<<(MessageBuilder& message, ScalarType dtype);
}  // namespace detail

}  // namespace taper
