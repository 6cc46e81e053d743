#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
// GCC 12 warns about its own header here (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include "taper/core/half.h"
#include "taper/kernels/cpu/cpu.h"

// Packets: Vec<float> and Vec<double> fill one register of the level (16, 32 or 64 bytes), on GCC's
// vector extension, with intrinsics where the extension has no word for it. Functors see them as
// numbers.

TAPER_CPU_BEGIN

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TAPER_VEC_512 1
constexpr int kVecBytes = 64;
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define TAPER_VEC_256 1
constexpr int kVecBytes = 32;
#elif defined(__SSE4_1__)
#define TAPER_VEC_128 1
constexpr int kVecBytes = 16;
#else
constexpr int kVecBytes = 16;
#endif

namespace detail {
// GCC takes a vector of a dependent type for its element in overloading; these are named outright.
template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  using Int = int32_t;
  typedef float Raw __attribute__((vector_size(kVecBytes)));
  typedef int32_t Bits __attribute__((vector_size(kVecBytes)));
  typedef uint32_t Unsigned __attribute__((vector_size(kVecBytes)));
};
template <>
struct Lanes<double> {
  using Int = int64_t;
  typedef double Raw __attribute__((vector_size(kVecBytes)));
  typedef int64_t Bits __attribute__((vector_size(kVecBytes)));
  typedef uint64_t Unsigned __attribute__((vector_size(kVecBytes)));
};
}  // namespace detail

template <class T>
struct Mask;

template <class T>
struct Vec {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  using Scalar = T;
  using Int = typename detail::Lanes<T>::Int;
  using Raw = typename detail::Lanes<T>::Raw;
  using Bits = typename detail::Lanes<T>::Bits;
  static constexpr int kSize = kVecBytes / static_cast<int>(sizeof(T));

  Raw raw;

  Vec() = default;
  TAPER_INLINE Vec(Raw r) : raw(r) {}
  // Subtracting +0 keeps every value, -0 included, so that this compiles to a broadcast alone.
  TAPER_INLINE Vec(T value) : raw(value - Raw{}) {}
  template <class U>
    requires(std::is_arithmetic_v<U> && !std::is_same_v<U, T>)
  TAPER_INLINE Vec(U value) : Vec(static_cast<T>(value)) {}

  /// Unaligned; `count` < kSize reads that many elements and makes the rest 0.
  static TAPER_INLINE Vec load(const T* from) {
    Raw r;
    std::memcpy(&r, from, sizeof r);
    return r;
  }
  static TAPER_INLINE Vec load(const T* from, int64_t count);
  TAPER_INLINE void store(T* to) const { std::memcpy(to, &raw, sizeof raw); }
  TAPER_INLINE void store(T* to, int64_t count) const;
  /// Past the caches; `to` must be aligned to kVecBytes. End the run with `stream_fence()`.
  TAPER_INLINE void stream(T* to) const;

  static TAPER_INLINE Vec from_bits(Bits bits) { return __builtin_bit_cast(Raw, bits); }
  TAPER_INLINE Bits bits() const { return __builtin_bit_cast(Bits, raw); }
  TAPER_INLINE T operator[](int i) const { return raw[i]; }

  friend TAPER_INLINE Vec operator+(Vec a, Vec b) { return a.raw + b.raw; }
  friend TAPER_INLINE Vec operator-(Vec a, Vec b) { return a.raw - b.raw; }
  friend TAPER_INLINE Vec operator*(Vec a, Vec b) { return a.raw * b.raw; }
  friend TAPER_INLINE Vec operator/(Vec a, Vec b) { return a.raw / b.raw; }
  friend TAPER_INLINE Vec operator-(Vec a) { return -a.raw; }
  TAPER_INLINE Vec& operator+=(Vec b) { return raw += b.raw, *this; }
  TAPER_INLINE Vec& operator-=(Vec b) { return raw -= b.raw, *this; }
  TAPER_INLINE Vec& operator*=(Vec b) { return raw *= b.raw, *this; }
  TAPER_INLINE Vec& operator/=(Vec b) { return raw /= b.raw, *this; }

  friend TAPER_INLINE Mask<T> operator==(Vec a, Vec b) { return {a.raw == b.raw}; }
  friend TAPER_INLINE Mask<T> operator!=(Vec a, Vec b) { return {a.raw != b.raw}; }
  friend TAPER_INLINE Mask<T> operator<(Vec a, Vec b) { return {a.raw < b.raw}; }
  friend TAPER_INLINE Mask<T> operator<=(Vec a, Vec b) { return {a.raw <= b.raw}; }
  friend TAPER_INLINE Mask<T> operator>(Vec a, Vec b) { return {a.raw > b.raw}; }
  friend TAPER_INLINE Mask<T> operator>=(Vec a, Vec b) { return {a.raw >= b.raw}; }
};

/// A yes or no per lane: all bits set, or none.
template <class T>
struct Mask {
  using Bits = typename Vec<T>::Bits;
  Bits raw;

  friend TAPER_INLINE Mask operator&(Mask a, Mask b) { return {a.raw & b.raw}; }
  friend TAPER_INLINE Mask operator|(Mask a, Mask b) { return {a.raw | b.raw}; }
  friend TAPER_INLINE Mask operator^(Mask a, Mask b) { return {a.raw ^ b.raw}; }
  friend TAPER_INLINE Mask operator!(Mask a) { return {~a.raw}; }
};

// The lane numbers 0, 1, 2, ... as integers and as numbers.
template <class T>
TAPER_INLINE typename Vec<T>::Bits lane_numbers() {
  typename Vec<T>::Bits lanes{};
  for (int i = 0; i < Vec<T>::kSize; ++i) lanes[i] = i;
  return lanes;
}
template <class T>
TAPER_INLINE Vec<T> iota() {
  return __builtin_convertvector(lane_numbers<T>(), typename Vec<T>::Raw);
}

template <class T>
TAPER_INLINE Vec<T> select(Mask<T> mask, Vec<T> yes, Vec<T> no) {
  return mask.raw ? yes.raw : no.raw;
}
template <class T>
TAPER_INLINE bool any(Mask<T> mask) {
#if defined(TAPER_VEC_512)
  const __m512i bits = __builtin_bit_cast(__m512i, mask.raw);
  return _mm512_test_epi64_mask(bits, bits) != 0;
#elif defined(TAPER_VEC_256)
  return _mm256_movemask_ps(__builtin_bit_cast(__m256, mask.raw)) != 0;
#elif defined(TAPER_VEC_128)
  return _mm_movemask_ps(__builtin_bit_cast(__m128, mask.raw)) != 0;
#else
  int64_t words[kVecBytes / 8];
  std::memcpy(words, &mask.raw, sizeof words);
  int64_t found = 0;
  for (int64_t word : words) found |= word;
  return found != 0;
#endif
}

template <class T>
TAPER_INLINE Mask<T> isnan(Vec<T> x) {
  return {x.raw != x.raw};
}
template <class T>
TAPER_INLINE Vec<T> abs(Vec<T> x) {
  using Int = typename Vec<T>::Int;
  return Vec<T>::from_bits(x.bits() & (~Int{0} ^ (Int{1} << (sizeof(T) * 8 - 1))));
}
/// The magnitude of x with the sign of y.
template <class T>
TAPER_INLINE Vec<T> copysign(Vec<T> x, Vec<T> y) {
  using Int = typename Vec<T>::Int;
  constexpr Int kSign = static_cast<Int>(Int{1} << (sizeof(T) * 8 - 1));
  return Vec<T>::from_bits((x.bits() & ~kSign) | (y.bits() & kSign));
}

// The processor's own: the second operand when either is NaN, or when both are zeros.
template <class T>
TAPER_INLINE Vec<T> max(Vec<T> a, Vec<T> b) {
  return a.raw > b.raw ? a.raw : b.raw;
}
template <class T>
TAPER_INLINE Vec<T> min(Vec<T> a, Vec<T> b) {
  return a.raw < b.raw ? a.raw : b.raw;
}
// NaN when either is NaN.
template <class T>
TAPER_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
  return select(isnan(a), a, max(a, b));
}
template <class T>
TAPER_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
  return select(isnan(a), a, min(a, b));
}
// The number when the other is NaN.
template <class T>
TAPER_INLINE Vec<T> fmax(Vec<T> a, Vec<T> b) {
  return select(isnan(b), a, max(a, b));
}
template <class T>
TAPER_INLINE Vec<T> fmin(Vec<T> a, Vec<T> b) {
  return select(isnan(b), a, min(a, b));
}

/// a * b + c; rounded once where the level has fused multiply-add (v3, v4).
template <class T>
TAPER_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {
#if defined(TAPER_VEC_512)
  if constexpr (sizeof(T) == 4)
    return _mm512_fmadd_ps(a.raw, b.raw, c.raw);
  else
    return _mm512_fmadd_pd(a.raw, b.raw, c.raw);
#elif defined(TAPER_VEC_256)
  if constexpr (sizeof(T) == 4)
    return _mm256_fmadd_ps(a.raw, b.raw, c.raw);
  else
    return _mm256_fmadd_pd(a.raw, b.raw, c.raw);
#else
  return a.raw * b.raw + c.raw;
#endif
}

/// Calls a scalar function on every lane: for functions without a vector form.
template <class T, class F>
TAPER_INLINE Vec<T> map_lanes(Vec<T> x, const F& f) {
  T lanes[Vec<T>::kSize];
  x.store(lanes);
  for (T& lane : lanes) lane = f(lane);
  return Vec<T>::load(lanes);
}
template <class T, class F>
TAPER_INLINE Vec<T> map_lanes(Vec<T> x, Vec<T> y, const F& f) {
  T a[Vec<T>::kSize], b[Vec<T>::kSize];
  x.store(a);
  y.store(b);
  for (int i = 0; i < Vec<T>::kSize; ++i) a[i] = f(a[i], b[i]);
  return Vec<T>::load(a);
}

template <class T>
TAPER_INLINE Vec<T> sqrt(Vec<T> x) {
#if defined(TAPER_VEC_512)
  if constexpr (sizeof(T) == 4)
    return _mm512_sqrt_ps(x.raw);
  else
    return _mm512_sqrt_pd(x.raw);
#elif defined(TAPER_VEC_256)
  if constexpr (sizeof(T) == 4)
    return _mm256_sqrt_ps(x.raw);
  else
    return _mm256_sqrt_pd(x.raw);
#elif defined(TAPER_VEC_128)
  if constexpr (sizeof(T) == 4)
    return _mm_sqrt_ps(x.raw);
  else
    return _mm_sqrt_pd(x.raw);
#else
  return map_lanes(x, [](T v) { return sizeof(T) == 4 ? __builtin_sqrtf(v) : __builtin_sqrt(v); });
#endif
}

// floor, ceil, trunc, and round to nearest even.
#if defined(TAPER_VEC_512)
#define TAPER_VEC_ROUND(mode, scalar)         \
  if constexpr (sizeof(T) == 4)               \
    return _mm512_roundscale_ps(x.raw, mode); \
  else                                        \
    return _mm512_roundscale_pd(x.raw, mode);
#elif defined(TAPER_VEC_256)
#define TAPER_VEC_ROUND(mode, scalar)          \
  if constexpr (sizeof(T) == 4)                \
    return _mm256_round_ps(x.raw, (mode) | 8); \
  else                                         \
    return _mm256_round_pd(x.raw, (mode) | 8);
#elif defined(TAPER_VEC_128)
#define TAPER_VEC_ROUND(mode, scalar)       \
  if constexpr (sizeof(T) == 4)             \
    return _mm_round_ps(x.raw, (mode) | 8); \
  else                                      \
    return _mm_round_pd(x.raw, (mode) | 8);
#else
#define TAPER_VEC_ROUND(mode, scalar) \
  return map_lanes(x, [](T v) { return static_cast<T>(scalar(v)); });
#endif
#define TAPER_VEC_ROUNDING(name, mode, scalar) \
  template <class T>                           \
  TAPER_INLINE Vec<T> name(Vec<T> x) {         \
    TAPER_VEC_ROUND(mode, scalar)              \
  }
TAPER_VEC_ROUNDING(nearbyint, 0, __builtin_nearbyint)
TAPER_VEC_ROUNDING(floor, 1, __builtin_floor)
TAPER_VEC_ROUNDING(ceil, 2, __builtin_ceil)
TAPER_VEC_ROUNDING(trunc, 3, __builtin_trunc)
#undef TAPER_VEC_ROUNDING
#undef TAPER_VEC_ROUND

namespace detail {
// Folds a register by halves: log2(lanes) steps, in a fixed order.
template <class T, int kLanes, class Raw, class Combine>
TAPER_INLINE T fold(Raw raw, const Combine& combine) {
  if constexpr (kLanes == 2) {
    return combine(raw[0], raw[1]);
  } else {
    typedef T HalfRaw __attribute__((vector_size(sizeof(T) * kLanes / 2)));
    HalfRaw halves[2];
    std::memcpy(halves, &raw, sizeof raw);
    return fold<T, kLanes / 2>(HalfRaw(combine(halves[0], halves[1])), combine);
  }
}
}  // namespace detail

template <class T>
TAPER_INLINE T reduce_add(Vec<T> x) {
  return detail::fold<T, Vec<T>::kSize>(x.raw, [](auto a, auto b) { return a + b; });
}
/// NaN when any lane is NaN.
template <class T>
TAPER_INLINE T reduce_max(Vec<T> x) {
  const T top = detail::fold<T, Vec<T>::kSize>(x.raw, [](auto a, auto b) { return a > b ? a : b; });
  return any(isnan(x)) ? T(__builtin_nan("")) : top;
}
template <class T>
TAPER_INLINE T reduce_min(Vec<T> x) {
  const T bottom =
      detail::fold<T, Vec<T>::kSize>(x.raw, [](auto a, auto b) { return a < b ? a : b; });
  return any(isnan(x)) ? T(__builtin_nan("")) : bottom;
}

// ---- Partial loads and stores -------------------------------------------------------------------

#if defined(TAPER_VEC_512)
template <>
TAPER_INLINE Vec<float> Vec<float>::load(const float* from, int64_t count) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
}
template <>
TAPER_INLINE Vec<double> Vec<double>::load(const double* from, int64_t count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), from);
}
template <>
TAPER_INLINE void Vec<float>::store(float* to, int64_t count) const {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), raw);
}
template <>
TAPER_INLINE void Vec<double>::store(double* to, int64_t count) const {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << count) - 1), raw);
}
template <>
TAPER_INLINE void Vec<float>::stream(float* to) const {
  _mm512_stream_ps(to, raw);
}
template <>
TAPER_INLINE void Vec<double>::stream(double* to) const {
  _mm512_stream_pd(to, raw);
}
#elif defined(TAPER_VEC_256)
template <>
TAPER_INLINE Vec<float> Vec<float>::load(const float* from, int64_t count) {
  const Bits wanted = lane_numbers<float>() < static_cast<int32_t>(count);
  return _mm256_maskload_ps(from, __builtin_bit_cast(__m256i, wanted));
}
template <>
TAPER_INLINE Vec<double> Vec<double>::load(const double* from, int64_t count) {
  const Bits wanted = lane_numbers<double>() < count;
  return _mm256_maskload_pd(from, __builtin_bit_cast(__m256i, wanted));
}
template <>
TAPER_INLINE void Vec<float>::store(float* to, int64_t count) const {
  const Bits wanted = lane_numbers<float>() < static_cast<int32_t>(count);
  _mm256_maskstore_ps(to, __builtin_bit_cast(__m256i, wanted), raw);
}
template <>
TAPER_INLINE void Vec<double>::store(double* to, int64_t count) const {
  const Bits wanted = lane_numbers<double>() < count;
  _mm256_maskstore_pd(to, __builtin_bit_cast(__m256i, wanted), raw);
}
template <>
TAPER_INLINE void Vec<float>::stream(float* to) const {
  _mm256_stream_ps(to, raw);
}
template <>
TAPER_INLINE void Vec<double>::stream(double* to) const {
  _mm256_stream_pd(to, raw);
}
#else
template <class T>
TAPER_INLINE Vec<T> Vec<T>::load(const T* from, int64_t count) {
  Raw r{};
  for (int i = 0; i < kSize; ++i) {
    if (i < count) r[i] = from[i];
  }
  return r;
}
template <class T>
TAPER_INLINE void Vec<T>::store(T* to, int64_t count) const {
  for (int i = 0; i < kSize; ++i) {
    if (i < count) to[i] = raw[i];
  }
}
template <class T>
TAPER_INLINE void Vec<T>::stream(T* to) const {
#if defined(TAPER_VEC_128)
  if constexpr (sizeof(T) == 4)
    _mm_stream_ps(to, raw);
  else
    _mm_stream_pd(to, raw);
#else
  store(to);
#endif
}
#endif

TAPER_INLINE void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

TAPER_CPU_END

#include "taper/kernels/cpu/vec_exp.h"
#include "taper/kernels/cpu/vec_half.h"
