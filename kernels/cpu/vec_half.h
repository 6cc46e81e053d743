#pragma once

#include "taper/core/half.h"
#include "taper/kernels/cpu/vec.h"

// Halves as Vec<float>, rounded to nearest even when stored. Included by vec.h.

TAPER_CPU_BEGIN

namespace detail {
typedef uint16_t HalfLanes __attribute__((vector_size(kVecBytes / 2)));
typedef uint32_t WordLanes __attribute__((vector_size(kVecBytes)));

TAPER_INLINE WordLanes choose(WordLanes mask, WordLanes yes, WordLanes no) {
  return (mask & yes) | (~mask & no);
}

// Vector forms of the conversions in core/half.h, on integers so that denormals are kept.
TAPER_INLINE Vec<float> widen(HalfLanes lanes, BFloat16) {
  return __builtin_bit_cast(Vec<float>::Raw, __builtin_convertvector(lanes, WordLanes) << 16);
}
TAPER_INLINE HalfLanes narrow(Vec<float> x, BFloat16) {
  const WordLanes bits = __builtin_bit_cast(WordLanes, x.raw);
  const WordLanes nan = __builtin_bit_cast(WordLanes, isnan(x).raw);
  const WordLanes rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return __builtin_convertvector(choose(nan, bits | 0x400000u, rounded) >> 16, HalfLanes);
}
#if defined(TAPER_VEC_512)
TAPER_INLINE Vec<float> widen(HalfLanes lanes, Half) {
  return _mm512_cvtph_ps(__builtin_bit_cast(__m256i, lanes));
}
TAPER_INLINE HalfLanes narrow(Vec<float> x, Half) {
  return __builtin_bit_cast(HalfLanes, _mm512_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(TAPER_VEC_256)
TAPER_INLINE Vec<float> widen(HalfLanes lanes, Half) {
  return _mm256_cvtph_ps(__builtin_bit_cast(__m128i, lanes));
}
TAPER_INLINE HalfLanes narrow(Vec<float> x, Half) {
  return __builtin_bit_cast(HalfLanes, _mm256_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT));
}
#else
TAPER_INLINE Vec<float> widen(HalfLanes lanes, Half) {
  const WordLanes half = __builtin_convertvector(lanes, WordLanes);
  const WordLanes magnitude = half & 0x7fffu;
  const auto number =
      __builtin_convertvector(__builtin_bit_cast(Vec<float>::Bits, magnitude), Vec<float>::Raw) *
      0x1p-24f;
  const WordLanes denormal = __builtin_bit_cast(WordLanes, number);
  const WordLanes normal = (magnitude << 13) + 0x38000000u;
  const WordLanes special = (magnitude << 13) | 0x7f800000u;
  const WordLanes finite = choose(WordLanes(magnitude < 0x400u), denormal, normal);
  return __builtin_bit_cast(
      Vec<float>::Raw,
      choose(WordLanes(magnitude >= 0x7c00u), special, finite) | ((half & 0x8000u) << 16));
}
TAPER_INLINE HalfLanes narrow(Vec<float> x, Half) {
  const WordLanes bits = __builtin_bit_cast(WordLanes, x.raw);
  const WordLanes magnitude = bits & 0x7fffffffu;
  const WordLanes normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  const Vec<float>::Raw shifted = __builtin_bit_cast(Vec<float>::Raw, magnitude) + 0.5f;
  const WordLanes denormal = __builtin_bit_cast(WordLanes, shifted) - 0x3f000000u;
  const WordLanes nan = __builtin_bit_cast(WordLanes, isnan(x).raw);
  const WordLanes special = (nan & 0x200u) | 0x7c00u;
  const WordLanes finite = choose(WordLanes(magnitude < 0x38800000u), denormal, normal);
  return __builtin_convertvector(
      choose(WordLanes(magnitude >= 0x477ff000u), special, finite) | ((bits >> 16) & 0x8000u),
      HalfLanes);
}
#endif
}  // namespace detail

/// The packet type a dtype is computed in, and how its elements come and go.
template <class T>
using packet_t = Vec<std::conditional_t<std::is_same_v<T, double>, double, float>>;

template <class T>
TAPER_INLINE packet_t<T> load(const T* from) {
  if constexpr (sizeof(T) == 2) {
    detail::HalfLanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return detail::widen(lanes, T{});
  } else {
    return Vec<T>::load(from);
  }
}
template <class T>
TAPER_INLINE packet_t<T> load(const T* from, int64_t count) {
  if constexpr (sizeof(T) == 2) {
    T lanes[packet_t<T>::kSize];
    for (int i = 0; i < packet_t<T>::kSize; ++i) lanes[i] = i < count ? from[i] : T(0, true);
    return load<T>(lanes);
  } else {
    return Vec<T>::load(from, count);
  }
}
template <class T>
TAPER_INLINE void store(T* to, packet_t<T> x) {
  if constexpr (sizeof(T) == 2) {
    const detail::HalfLanes lanes = detail::narrow(x, T{});
    std::memcpy(to, &lanes, sizeof lanes);
  } else {
    x.store(to);
  }
}
template <class T>
TAPER_INLINE void store(T* to, packet_t<T> x, int64_t count) {
  if constexpr (sizeof(T) == 2) {
    T lanes[packet_t<T>::kSize];
    store<T>(lanes, x);
    for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
  } else {
    x.store(to, count);
  }
}

TAPER_CPU_END
