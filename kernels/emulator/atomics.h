#pragma once

// Atomic functions. All threads of a block run on one thread of the system, but blocks do not.

#include "taper/kernels/emulator/device.h"

namespace taper::emulator {

// Relaxed, as on a card. The thread sanitizer does not know fences, so there each atomic orders
// memory, or the pattern "the last block sums up" would be reported.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kAtomicOrder = __ATOMIC_ACQ_REL;
inline constexpr int kAtomicLoadOrder = __ATOMIC_ACQUIRE;
#else
inline constexpr int kAtomicOrder = __ATOMIC_RELAXED;
inline constexpr int kAtomicLoadOrder = __ATOMIC_RELAXED;
#endif

template <size_t kBytes>
using Word =
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>;

/// *p = f(*p); the value before.
template <class T, class F>
T update(T* p, F f) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  using U = Word<sizeof(T)>;
  U* const word = reinterpret_cast<U*>(p);
  U before = __atomic_load_n(word, kAtomicLoadOrder);
  for (;;) {
    const T value = __builtin_bit_cast(T, before);
    const U after = __builtin_bit_cast(U, static_cast<T>(f(value)));
    if (__atomic_compare_exchange_n(word, &before, after, true, kAtomicOrder, kAtomicLoadOrder)) {
      return value;
    }
  }
}

}  // namespace taper::emulator

#define TAPER_ATOMIC(name, T, expression)                               \
  inline T name(T* p, T v) {                                            \
    return taper::emulator::update(p, [v](T a) { return expression; }); \
  }
#define TAPER_ATOMIC_INTEGERS(name, expression) \
  TAPER_ATOMIC(name, int, expression)           \
  TAPER_ATOMIC(name, unsigned, expression)      \
  TAPER_ATOMIC(name, long long, expression)     \
  TAPER_ATOMIC(name, unsigned long long, expression)

TAPER_ATOMIC(atomicAdd, int, static_cast<int>(unsigned(a) + unsigned(v)))
TAPER_ATOMIC(atomicAdd, unsigned, a + v)
TAPER_ATOMIC(atomicAdd, unsigned long long, a + v)
TAPER_ATOMIC(atomicAdd, float, a + v)
TAPER_ATOMIC(atomicAdd, double, a + v)
TAPER_ATOMIC(atomicAdd, __half, __float2half_rn(__half2float(a) + __half2float(v)))
TAPER_ATOMIC(atomicAdd, __nv_bfloat16,
             __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(v)))
TAPER_ATOMIC(atomicSub, int, static_cast<int>(unsigned(a) - unsigned(v)))
TAPER_ATOMIC(atomicSub, unsigned, a - v)
TAPER_ATOMIC_INTEGERS(atomicMin, a < v ? a : v)
TAPER_ATOMIC_INTEGERS(atomicMax, a > v ? a : v)
TAPER_ATOMIC_INTEGERS(atomicAnd, a& v)
TAPER_ATOMIC_INTEGERS(atomicOr, a | v)
TAPER_ATOMIC_INTEGERS(atomicXor, a ^ v)
TAPER_ATOMIC(atomicInc, unsigned, a >= v ? 0 : a + 1)
TAPER_ATOMIC(atomicDec, unsigned, a == 0 || a > v ? v : a - 1)
TAPER_ATOMIC(atomicExch, int, (static_cast<void>(a), v))
TAPER_ATOMIC(atomicExch, unsigned, (static_cast<void>(a), v))
TAPER_ATOMIC(atomicExch, unsigned long long, (static_cast<void>(a), v))
TAPER_ATOMIC(atomicExch, float, (static_cast<void>(a), v))

#define TAPER_ATOMIC_CAS(T)                                                            \
  inline T atomicCAS(T* p, T expected, T v) {                                          \
    __atomic_compare_exchange_n(p, &expected, v, false, taper::emulator::kAtomicOrder, \
                                taper::emulator::kAtomicLoadOrder);                    \
    return expected;                                                                   \
  }
TAPER_ATOMIC_CAS(int)
TAPER_ATOMIC_CAS(unsigned)
TAPER_ATOMIC_CAS(unsigned short)
TAPER_ATOMIC_CAS(unsigned long long)

#undef TAPER_ATOMIC
#undef TAPER_ATOMIC_INTEGERS
#undef TAPER_ATOMIC_CAS
