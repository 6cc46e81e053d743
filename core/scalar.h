#pragma once

#include <cstdint>
#include <iosfwd>
#include <type_traits>

#include "taper/core/dtype.h"
#include "taper/core/error.h"

namespace taper {

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
  float toFloat() const { return static_cast<float>(toDouble()); }
  int64_t toLong() const {
    if (kind_ != Kind::kFloating) return integer_;
    TAPER_CHECK(floating_ >= -0x1p63 && floating_ < 0x1p63, "Scalar: ", floating_,
                " cannot be converted to an integer without overflow");
    return static_cast<int64_t>(floating_);
  }
  int toInt() const { return static_cast<int>(toLong()); }
  bool toBool() const { return kind_ == Kind::kFloating ? floating_ != 0 : integer_ != 0; }
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return toBool();
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(toLong());
    } else {
      return static_cast<T>(toDouble());
    }
  }
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
