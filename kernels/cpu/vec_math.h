#pragma once

#include "taper/kernels/cpu/vec.h"
#include "taper/kernels/functors/math.h"

// Packet mathematics beyond vec.h. On x86-64 it is glibc's vector library (libmvec, 2.35 and
// later), right at infinities, NaN, -0 and denormals to 4 ulp; elsewhere the C library, lane by
// lane. Its functions that look values up (gathers are slow on many processors) are written here
// instead: vec_math_own.h.

TAPER_CPU_BEGIN

template <class T>
TAPER_INLINE Vec<T> neg(Vec<T> x) {
  return -x;
}
template <class T>
TAPER_INLINE Mask<T> isinf(Vec<T> x) {
  return abs(x) == Vec<T>(__builtin_huge_val());
}
template <class T>
TAPER_INLINE Mask<T> isfinite(Vec<T> x) {
  return abs(x) < Vec<T>(__builtin_huge_val());
}

TAPER_CPU_END

#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35) && \
    (defined(TAPER_VEC_512) || defined(TAPER_VEC_256) || defined(TAPER_VEC_128))
#define TAPER_HAVE_LIBMVEC 1
#endif

#if defined(TAPER_HAVE_LIBMVEC)

// The names say the instruction set (b, d, e), the lanes and the number of arguments.
#if defined(TAPER_VEC_512)
#define TAPER_MVEC_F(args, name) \
  _ZGVeN16##args##_              \
  ##name##f
#define TAPER_MVEC_D(args, name) \
  _ZGVeN8##args##_               \
  ##name
#elif defined(TAPER_VEC_256)
#define TAPER_MVEC_F(args, name) \
  _ZGVdN8##args##_               \
  ##name##f
#define TAPER_MVEC_D(args, name) \
  _ZGVdN4##args##_               \
  ##name
#else
#define TAPER_MVEC_F(args, name) \
  _ZGVbN4##args##_               \
  ##name##f
#define TAPER_MVEC_D(args, name) \
  _ZGVbN2##args##_               \
  ##name
#endif
#define TAPER_VEC_FLOAT_1(name)                            \
  extern "C" MvecFloats TAPER_MVEC_F(v, name)(MvecFloats); \
  TAPER_INLINE Vec<float> name(Vec<float> x) { return TAPER_MVEC_F(v, name)(x.raw); }
#define TAPER_VEC_DOUBLE_1(name)                             \
  extern "C" MvecDoubles TAPER_MVEC_D(v, name)(MvecDoubles); \
  TAPER_INLINE Vec<double> name(Vec<double> x) { return TAPER_MVEC_D(v, name)(x.raw); }
#define TAPER_VEC_FLOAT_2(name)                                         \
  extern "C" MvecFloats TAPER_MVEC_F(vv, name)(MvecFloats, MvecFloats); \
  TAPER_INLINE Vec<float> name(Vec<float> x, Vec<float> y) {            \
    return TAPER_MVEC_F(vv, name)(x.raw, y.raw);                        \
  }
#define TAPER_VEC_DOUBLE_2(name)                                           \
  extern "C" MvecDoubles TAPER_MVEC_D(vv, name)(MvecDoubles, MvecDoubles); \
  TAPER_INLINE Vec<double> name(Vec<double> x, Vec<double> y) {            \
    return TAPER_MVEC_D(vv, name)(x.raw, y.raw);                           \
  }

#else

#define TAPER_VEC_FLOAT_1(name) TAPER_VEC_LANES_1(name, float)
#define TAPER_VEC_DOUBLE_1(name) TAPER_VEC_LANES_1(name, double)
#define TAPER_VEC_FLOAT_2(name) TAPER_VEC_LANES_2(name, float)
#define TAPER_VEC_DOUBLE_2(name) TAPER_VEC_LANES_2(name, double)

#endif

#define TAPER_VEC_LANES_1(name, T)                                    \
  TAPER_INLINE Vec<T> name(Vec<T> x) {                                \
    return map_lanes(x, [](T lane) { return functors::name(lane); }); \
  }
#define TAPER_VEC_LANES_2(name, T)                                         \
  TAPER_INLINE Vec<T> name(Vec<T> x, Vec<T> y) {                           \
    return map_lanes(x, y, [](T a, T b) { return functors::name(a, b); }); \
  }
#define TAPER_VEC_WORD_1(name) \
  TAPER_VEC_FLOAT_1(name)      \
  TAPER_VEC_DOUBLE_1(name)
#define TAPER_VEC_WORD_2(name) \
  TAPER_VEC_FLOAT_2(name)      \
  TAPER_VEC_DOUBLE_2(name)

TAPER_CPU_BEGIN

using MvecFloats = Vec<float>::Raw;
using MvecDoubles = Vec<double>::Raw;

TAPER_VEC_WORD_1(exp2)
TAPER_VEC_WORD_1(expm1)
TAPER_VEC_WORD_1(log)
TAPER_VEC_WORD_1(log2)
TAPER_VEC_WORD_1(log10)
TAPER_VEC_WORD_1(log1p)
TAPER_VEC_WORD_1(sin)
TAPER_VEC_WORD_1(cos)
TAPER_VEC_WORD_1(tan)
TAPER_VEC_WORD_1(asin)
TAPER_VEC_WORD_1(acos)
TAPER_VEC_WORD_1(atan)
TAPER_VEC_WORD_1(sinh)
TAPER_VEC_WORD_1(cosh)
TAPER_VEC_WORD_1(asinh)
TAPER_VEC_WORD_1(acosh)
TAPER_VEC_WORD_1(atanh)
TAPER_VEC_WORD_1(erfc)
TAPER_VEC_WORD_2(atan2)
TAPER_VEC_WORD_2(hypot)
TAPER_VEC_LANES_1(lgamma, float)
TAPER_VEC_LANES_1(lgamma, double)
TAPER_VEC_FLOAT_1(tanh)
TAPER_VEC_DOUBLE_1(erf)
TAPER_VEC_DOUBLE_2(pow)

TAPER_CPU_END

#undef TAPER_VEC_WORD_1
#undef TAPER_VEC_WORD_2
#undef TAPER_VEC_LANES_1
#undef TAPER_VEC_LANES_2
#undef TAPER_VEC_FLOAT_1
#undef TAPER_VEC_FLOAT_2
#undef TAPER_VEC_DOUBLE_1
#undef TAPER_VEC_DOUBLE_2

#include "taper/kernels/cpu/vec_math_own.h"
