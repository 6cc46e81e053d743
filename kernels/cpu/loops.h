#pragma once

#include <utility>

#include "taper/kernels/cpu/vec_math.h"
#include "taper/kernels/cpu/walk.h"
#include "taper/kernels/functors/math.h"

// The inner loops: one per op and compute type, over dense arrays. Every layout, and the half
// types, are brought to this form by walk.cpp, so that nothing else is instantiated per op.

TAPER_CPU_BEGIN

/// What a table of loops answers: null where the op does not take the type.
struct FoundLoop {
  Loop loop = nullptr;
  bool costly = false;
};

/// Yes or no per lane as bytes 1 and 0.
template <class T>
TAPER_INLINE void store_answers(bool* to, Mask<T> mask, int64_t count) {
#if defined(TAPER_VEC_512)
  // vpmovm2b has no narrow form for 8 lanes; 16 bytes hold either.
  __m128i bytes;
  if constexpr (sizeof(T) == 4) {
    bytes = _mm_maskz_set1_epi8(_mm512_movepi32_mask(__builtin_bit_cast(__m512i, mask.raw)), 1);
  } else {
    bytes = _mm_maskz_set1_epi8(_mm512_movepi64_mask(__builtin_bit_cast(__m512i, mask.raw)), 1);
  }
#else
  typedef int8_t Bytes __attribute__((vector_size(Vec<T>::kSize)));
  const Bytes bytes = __builtin_convertvector(mask.raw, Bytes) & 1;
#endif
  if (count == Vec<T>::kSize)
    std::memcpy(to, &bytes, Vec<T>::kSize);
  else
    std::memcpy(to, &bytes, static_cast<size_t>(count));
}

namespace detail {

template <class T>
constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T, class Result>
TAPER_INLINE void put(void* out, int64_t i, Result result, int64_t count) {
  if constexpr (std::is_same_v<Result, Mask<T>>) {
    store_answers(static_cast<bool*>(out) + i, result, count);
  } else if (count == Vec<T>::kSize) {
    result.store(static_cast<T*>(out) + i);
  } else {
    result.store(static_cast<T*>(out) + i, count);
  }
}

template <class Op, class T, size_t... k>
TAPER_INLINE void packet_loop(const Run& run, std::index_sequence<k...>) {
  using P = Vec<T>;
  constexpr int64_t kSize = P::kSize;
  const auto p = *static_cast<const functors::ParametersOf<P>*>(run.parameters);
  const int64_t n = run.count;
  if constexpr (functors::is_costly<Op>) {
    // The body is long: one copy of it, which meets the rest as a whole packet in a buffer.
    T rest[sizeof...(k)][kSize] = {}, rest_out[kSize];
    using Result = decltype(functors::apply<Op, P>(p, P::load(rest[k])...));
    constexpr bool kAnswers = std::is_same_v<Result, Mask<T>>;
    using Out = std::conditional_t<kAnswers, bool, T>;
    const T* in[] = {static_cast<const T*>(run.in[k])...};
    void* out = run.out;
    const int64_t whole = n - n % kSize;
    for (int64_t end = whole;; end = kSize) {
      for (int64_t i = 0; i < end; i += kSize) {
        put<T>(out, i, functors::apply<Op, P>(p, P::load(in[k] + i)...), kSize);
      }
      if (out != run.out || whole == n) break;
      (std::memcpy(rest[k], in[k] + whole, static_cast<size_t>(n - whole) * sizeof(T)), ...);
      ((in[k] = rest[k]), ...);
      out = rest_out;
    }
    if (whole < n) {
      std::memcpy(static_cast<Out*>(run.out) + whole, rest_out,
                  static_cast<size_t>(n - whole) * sizeof(Out));
    }
  } else {
    int64_t i = 0;
    for (; i + kSize <= n; i += kSize) {
      put<T>(run.out, i,
             functors::apply<Op, P>(p, P::load(static_cast<const T*>(run.in[k]) + i)...), kSize);
    }
    if (i < n) {
      put<T>(run.out, i,
             functors::apply<Op, P>(p, P::load(static_cast<const T*>(run.in[k]) + i, n - i)...),
             n - i);
    }
  }
}

// The compiler vectorises this one. Operands are the same array or apart, as `ivdep` promises.
template <class Op, class T, size_t... k>
TAPER_INLINE void integer_loop(const Run& run, std::index_sequence<k...>) {
  const auto p = *static_cast<const functors::ParametersOf<T>*>(run.parameters);
  using Result = decltype(functors::apply<Op, T>(p, *static_cast<const T*>(run.in[k])...));
  Result* out = static_cast<Result*>(run.out);
  const int64_t n = run.count;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = functors::apply<Op, T>(p, static_cast<const T*>(run.in[k])[i]...);
  }
}

template <class T>
inline bool has_zero(const T* in, int64_t n) {
  unsigned zeros = 0;
  for (int64_t i = 0; i < n; ++i) zeros |= in[i] == 0;
  return zeros != 0;
}

}  // namespace detail

/// The loop of an op over dense arrays of T. False: a zero among integer divisors.
template <class Op, int kInputs, class T>
bool loop(const Run& run) {
  if constexpr (detail::is_real<T>) {
    detail::packet_loop<Op, T>(run, std::make_index_sequence<kInputs>());
  } else {
    if constexpr (functors::divides_integers<Op>) {
      if (detail::has_zero(static_cast<const T*>(run.in[1]), run.count)) return false;
    }
    detail::integer_loop<Op, T>(run, std::make_index_sequence<kInputs>());
  }
  return true;
}

template <class Op, int kInputs, class... Types>
FoundLoop find_loop(ScalarType compute) {
  FoundLoop found;
  (void)((compute == dtype_of<Types> ? (found.loop = &loop<Op, kInputs, Types>, true) : false) ||
         ...);
  found.costly = functors::is_costly<Op>;
  return found;
}

/// Halves are computed in float.
inline ScalarType compute_dtype(ScalarType dtype) {
  return is_reduced_floating_point(dtype) ? kFloat : dtype;
}

/// Both forms of an op's parameters; the loop reads the one of its type.
struct OpParameters {
  functors::Parameters<double> real;
  functors::Parameters<int64_t> whole;

  template <class Args>
  explicit OpParameters(const Args& args)
      : real{args.p[0].d, args.p[1].d, args.p[2].d, args.alpha.d},
        whole{args.p[0].i, args.p[1].i, args.p[2].i, args.alpha.i} {}

  const void* of(ScalarType dtype) const {
    return is_floating_point(dtype) ? static_cast<const void*>(&real) : &whole;
  }
};

TAPER_CPU_END
