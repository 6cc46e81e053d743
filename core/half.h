#pragma once

#include <cstdint>
#include <cstring>

#include "taper/core/macros.h"

// The two 16-bit floating types. Both convert to and from float implicitly and compute in float, so
// that an expression rounds once, when it is stored. Rounding is to nearest even; denormals are
// kept.

namespace taper {

namespace detail {

TAPER_INLINE TAPER_HOST_DEVICE uint32_t float_bits(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

TAPER_INLINE TAPER_HOST_DEVICE float bits_float(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

// IEEE 754 binary16 from binary32. Works on the bits: the compiler's own conversion needs F16C.
TAPER_INLINE TAPER_HOST_DEVICE uint16_t half_bits_from_float(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above
  if (magnitude < 0x38800000u) {
    // Below the smallest normal: adding 0.5 leaves the rounded denormal in the low bits.
    const float shifted = bits_float(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (float_bits(shifted) - 0x3f000000u));
  }
  magnitude += 0xc8000fffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | (magnitude >> 13));
}

TAPER_INLINE TAPER_HOST_DEVICE float float_from_half_bits(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return bits_float(sign | 0x7f800000u | (magnitude << 13));
  if (magnitude < 0x0400u) {
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return bits_float(sign | float_bits(value));
  }
  return bits_float(sign | ((magnitude << 13) + 0x38000000u));
}

TAPER_INLINE TAPER_HOST_DEVICE uint16_t bfloat16_bits_from_float(float value) {
  const uint32_t bits = float_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail

/// IEEE 754 binary16: 10 fraction bits, largest finite value 65504.
struct Half {
  uint16_t bits;

  Half() = default;
  TAPER_HOST_DEVICE constexpr Half(uint16_t raw, bool /*from_bits*/) : bits(raw) {}
  TAPER_HOST_DEVICE Half(float value) : bits(detail::half_bits_from_float(value)) {}
  TAPER_HOST_DEVICE operator float() const { return detail::float_from_half_bits(bits); }
  TAPER_HOST_DEVICE Half& operator+=(Half other) {
    return *this = Half(static_cast<float>(*this) + static_cast<float>(other));
  }
  TAPER_HOST_DEVICE Half& operator-=(Half other) {
    return *this = Half(static_cast<float>(*this) - static_cast<float>(other));
  }
  TAPER_HOST_DEVICE Half& operator*=(Half other) {
    return *this = Half(static_cast<float>(*this) * static_cast<float>(other));
  }
  TAPER_HOST_DEVICE Half& operator/=(Half other) {
    return *this = Half(static_cast<float>(*this) / static_cast<float>(other));
  }
};

/// The upper half of a binary32: 7 fraction bits, the range of float.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  TAPER_HOST_DEVICE constexpr BFloat16(uint16_t raw, bool /*from_bits*/) : bits(raw) {}
  TAPER_HOST_DEVICE BFloat16(float value) : bits(detail::bfloat16_bits_from_float(value)) {}
  TAPER_HOST_DEVICE operator float() const {
    return detail::bits_float(static_cast<uint32_t>(bits) << 16);
  }
  TAPER_HOST_DEVICE BFloat16& operator+=(BFloat16 other) {
    return *this = BFloat16(static_cast<float>(*this) + static_cast<float>(other));
  }
  TAPER_HOST_DEVICE BFloat16& operator-=(BFloat16 other) {
    return *this = BFloat16(static_cast<float>(*this) - static_cast<float>(other));
  }
  TAPER_HOST_DEVICE BFloat16& operator*=(BFloat16 other) {
    return *this = BFloat16(static_cast<float>(*this) * static_cast<float>(other));
  }
  TAPER_HOST_DEVICE BFloat16& operator/=(BFloat16 other) {
    return *this = BFloat16(static_cast<float>(*this) / static_cast<float>(other));
  }
};

}  // namespace taper
