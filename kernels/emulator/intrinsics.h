#pragma once

// Functions of one thread: arithmetic, bits, conversions, loads with a cache hint. NVIDIA's headers
// define none of these for the host. The fast ones (__expf) are the accurate ones here.

#include "taper/kernels/emulator/device.h"

// ---- Arithmetic ---------------------------------------------------------------------------------

// glibc declares functions of these names, and defines none.
#define __expf(x) ::expf(x)
#define __exp10f(x) ::exp10f(x)
#define __logf(x) ::logf(x)
#define __log2f(x) ::log2f(x)
#define __log10f(x) ::log10f(x)
#define __sinf(x) ::sinf(x)
#define __cosf(x) ::cosf(x)
#define __tanf(x) ::tanf(x)
#define __powf(x, y) ::powf(x, y)
#define __sincosf(x, s, c) ::sincosf(x, s, c)

// NVIDIA's headers declare these for the host, so another name stands behind them.
namespace taper::emulator {
inline float reciprocal_root(float x) { return 1.0f / ::sqrtf(x); }
inline double reciprocal_root(double x) { return 1.0 / ::sqrt(x); }
inline float normal_cdf(float x) { return 0.5f * ::erfcf(x * -0.70710678f); }
inline double normal_cdf(double x) { return 0.5 * ::erfc(x * -0.70710678118654752440); }
inline float cube_root_reciprocal(float x) { return 1.0f / ::cbrtf(x); }
}  // namespace taper::emulator
#define rsqrtf(x) ::taper::emulator::reciprocal_root(static_cast<float>(x))
#define rsqrt(x) ::taper::emulator::reciprocal_root(x)
#define normcdff(x) ::taper::emulator::normal_cdf(static_cast<float>(x))
#define normcdf(x) ::taper::emulator::normal_cdf(x)
#define rcbrtf(x) ::taper::emulator::cube_root_reciprocal(x)

inline float __fdividef(float a, float b) { return a / b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return ::sqrtf(x); }
inline float __frsqrt_rn(float x) { return 1.0f / ::sqrtf(x); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

inline int __mulhi(int a, int b) { return static_cast<int>((int64_t{a} * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((uint64_t{a} * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>((Wide{a} * b) >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  __extension__ using Wide = __int128;
  return static_cast<long long>((Wide{a} * b) >> 64);
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<int8_t>(a >> i) * static_cast<int8_t>(b >> i);
  return c;
}

#define TAPER_MIN_MAX(T)                           \
  inline T min(T a, T b) { return a < b ? a : b; } \
  inline T max(T a, T b) { return a > b ? a : b; }
TAPER_MIN_MAX(int)
TAPER_MIN_MAX(unsigned)
TAPER_MIN_MAX(long)
TAPER_MIN_MAX(unsigned long)
TAPER_MIN_MAX(long long)
TAPER_MIN_MAX(unsigned long long)
#undef TAPER_MIN_MAX
// As CUDA's: a NaN loses.
inline float min(float a, float b) { return ::fminf(a, b); }
inline float max(float a, float b) { return ::fmaxf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }

// ---- Bits ---------------------------------------------------------------------------------------

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result |= (x >> i & 1) << (31 - i);
  return result;
}
/// Byte i of the result is byte (selector >> 4i & 7) of the eight bytes of y and x, x's first.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned choice = selector >> (4 * i) & 15;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (choice & 7))) & 255;
    if (choice & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned count) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) << (count & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned count) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (count & 31));
}

inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

// ---- Conversions: as a card, out of range goes to the nearest number and NaN to 0
// ----------------

namespace taper::emulator {
template <class To, class From>
To convert(From rounded) {
  if (rounded != rounded) return 0;
  constexpr int kBits = static_cast<int>(8 * sizeof(To)) - (To(-1) < To(0) ? 1 : 0);
  const From limit = static_cast<From>(::ldexp(1.0, kBits));
  constexpr To kHighest = static_cast<To>(~uint64_t{0} >> (64 - kBits));
  if (rounded >= limit) return kHighest;
  if (To(-1) < To(0))
    return rounded <= -limit ? static_cast<To>(~kHighest) : static_cast<To>(rounded);
  return rounded <= 0 ? To(0) : static_cast<To>(rounded);
}
}  // namespace taper::emulator

inline int __float2int_rn(float x) { return taper::emulator::convert<int>(::rintf(x)); }
inline int __float2int_rz(float x) { return taper::emulator::convert<int>(::truncf(x)); }
inline int __float2int_rd(float x) { return taper::emulator::convert<int>(::floorf(x)); }
inline int __float2int_ru(float x) { return taper::emulator::convert<int>(::ceilf(x)); }
inline unsigned __float2uint_rn(float x) { return taper::emulator::convert<unsigned>(::rintf(x)); }
inline unsigned __float2uint_rz(float x) { return taper::emulator::convert<unsigned>(::truncf(x)); }
inline long long __float2ll_rn(float x) { return taper::emulator::convert<long long>(::rintf(x)); }
inline long long __float2ll_rz(float x) { return taper::emulator::convert<long long>(::truncf(x)); }
inline int __double2int_rn(double x) { return taper::emulator::convert<int>(::rint(x)); }
inline int __double2int_rz(double x) { return taper::emulator::convert<int>(::trunc(x)); }
inline long long __double2ll_rn(double x) { return taper::emulator::convert<long long>(::rint(x)); }
inline long long __double2ll_rz(double x) {
  return taper::emulator::convert<long long>(::trunc(x));
}
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

// ---- Loads and stores with a cache hint, time ---------------------------------------------------

#define TAPER_LOAD(name) \
  template <class T>     \
  T name(const T* p) {   \
    return *p;           \
  }
TAPER_LOAD(__ldg)
TAPER_LOAD(__ldcs)
TAPER_LOAD(__ldca)
TAPER_LOAD(__ldcg)
TAPER_LOAD(__ldcv)
TAPER_LOAD(__ldlu)
#undef TAPER_LOAD
#define TAPER_STORE(name)                          \
  template <class T>                               \
  void name(T* p, std::type_identity_t<T> value) { \
    *p = value;                                    \
  }
TAPER_STORE(__stcs)
TAPER_STORE(__stcg)
TAPER_STORE(__stwb)
TAPER_STORE(__stwt)
#undef TAPER_STORE

/// Counts, but says nothing about a card's time.
inline long long clock64() {
#if defined(__x86_64__)
  return static_cast<long long>(__builtin_ia32_rdtsc());
#else
  static long long ticks = 0;
  return __atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
#endif
}
