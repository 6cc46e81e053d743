#pragma once

// Barriers, and the operations in which the lanes of a warp take part together. Each of the latter
// is one collective: every lane brings a payload, the last to arrive works on all of them.

#include "taper/kernels/emulator/atomics.h"
#include "taper/kernels/emulator/device.h"

inline constexpr int warpSize = 32;

// ---- Barriers -----------------------------------------------------------------------------------

inline void __syncthreads(TAPER_SITE) {
  taper::emulator::block_barrier(0, taper::emulator::Vote::kNone, file, line);
}
inline int __syncthreads_count(int predicate, TAPER_SITE) {
  return taper::emulator::block_barrier(predicate != 0, taper::emulator::Vote::kCount, file, line);
}
inline int __syncthreads_and(int predicate, TAPER_SITE) {
  return taper::emulator::block_barrier(predicate != 0, taper::emulator::Vote::kAnd, file, line);
}
inline int __syncthreads_or(int predicate, TAPER_SITE) {
  return taper::emulator::block_barrier(predicate != 0, taper::emulator::Vote::kOr, file, line);
}

// Under the thread sanitizer, which does not know fences, the atomics order memory instead.
inline void __threadfence() {
#if !defined(__SANITIZE_THREAD__)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { taper::emulator::yield_thread(); }
[[noreturn]] inline void __trap(TAPER_SITE) { taper::emulator::device_fault("__trap", file, line); }

// ---- Shuffles -----------------------------------------------------------------------------------

namespace taper::emulator {

template <class T>
struct Shuffled {
  T value;
  int source;
  T result;
};

template <class T>
TAPER_NO_TSAN WarpFault shuffle_lanes(void* const* payloads, uint32_t lanes) {
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int to = __builtin_ctz(rest);
    auto* const mine = static_cast<Shuffled<T>*>(payloads[to]);
    if ((lanes >> mine->source & 1) == 0) {
      return {"reads a lane that the mask does not name", to};
    }
    mine->result = static_cast<Shuffled<T>*>(payloads[mine->source])->value;
  }
  return {};
}

template <class T>
T shuffle(uint32_t mask, T value, int source, const char* name, const char* file, int line) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  Shuffled<T> payload{value, source, value};
  warp_collective(mask, &payload, &shuffle_lanes<T>, name, file, line);
  return payload.result;
}

}  // namespace taper::emulator

// Where the source lies outside the segment of `width` lanes, a lane keeps its own value (index
// shuffles wrap instead).
template <class T>
T __shfl_sync(uint32_t mask, T value, int source, int width = 32, TAPER_SITE) {
  const int self = static_cast<int>(taper::emulator::lane());
  return taper::emulator::shuffle(mask, value, (self & ~(width - 1)) | (source & (width - 1)),
                                  "__shfl_sync", file, line);
}
template <class T>
T __shfl_xor_sync(uint32_t mask, T value, int bits, int width = 32, TAPER_SITE) {
  const int self = static_cast<int>(taper::emulator::lane());
  int from = self ^ bits;
  if (from > (self | (width - 1))) from = self;  // a lower segment may be read
  return taper::emulator::shuffle(mask, value, from & 31, "__shfl_xor_sync", file, line);
}
template <class T>
T __shfl_down_sync(uint32_t mask, T value, unsigned delta, int width = 32, TAPER_SITE) {
  const int self = static_cast<int>(taper::emulator::lane());
  int from = self + static_cast<int>(delta);
  if (from > (self | (width - 1))) from = self;
  return taper::emulator::shuffle(mask, value, from, "__shfl_down_sync", file, line);
}
template <class T>
T __shfl_up_sync(uint32_t mask, T value, unsigned delta, int width = 32, TAPER_SITE) {
  const int self = static_cast<int>(taper::emulator::lane());
  int from = self - static_cast<int>(delta);
  if (from < (self & ~(width - 1))) from = self;
  return taper::emulator::shuffle(mask, value, from, "__shfl_up_sync", file, line);
}

// ---- Votes, matches, reductions -----------------------------------------------------------------

namespace taper::emulator {

template <class T>
struct Voted {
  T value;
  uint32_t result;
};

TAPER_NO_TSAN inline WarpFault no_op(void* const*, uint32_t) { return {}; }

TAPER_NO_TSAN inline WarpFault ballot(void* const* payloads, uint32_t lanes) {
  uint32_t result = 0;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (static_cast<Voted<int>*>(payloads[lane])->value != 0) result |= 1u << lane;
  }
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    static_cast<Voted<int>*>(payloads[__builtin_ctz(rest)])->result = result;
  }
  return {};
}

/// result: the lanes whose value has the same bits.
template <class T>
TAPER_NO_TSAN WarpFault match(void* const* payloads, uint32_t lanes) {
  for (uint32_t to = lanes; to != 0; to &= to - 1) {
    auto* const mine = static_cast<Voted<T>*>(payloads[__builtin_ctz(to)]);
    mine->result = 0;
    for (uint32_t from = lanes; from != 0; from &= from - 1) {
      const int lane = __builtin_ctz(from);
      const T other = static_cast<Voted<T>*>(payloads[lane])->value;
      if (__builtin_bit_cast(Word<sizeof(T)>, other) ==
          __builtin_bit_cast(Word<sizeof(T)>, mine->value)) {
        mine->result |= 1u << lane;
      }
    }
  }
  return {};
}

template <class T, class Op>
TAPER_NO_TSAN WarpFault reduce(void* const* payloads, uint32_t lanes) {
  uint32_t rest = lanes;
  T result = static_cast<Voted<T>*>(payloads[__builtin_ctz(rest)])->value;
  while ((rest &= rest - 1) != 0) {
    result = Op()(result, static_cast<Voted<T>*>(payloads[__builtin_ctz(rest)])->value);
  }
  for (rest = lanes; rest != 0; rest &= rest - 1) {
    static_cast<Voted<T>*>(payloads[__builtin_ctz(rest)])->result = static_cast<uint32_t>(result);
  }
  return {};
}

}  // namespace taper::emulator

inline void __syncwarp(uint32_t mask = 0xffffffffu, TAPER_SITE) {
  taper::emulator::warp_collective(mask, nullptr, &taper::emulator::no_op, "__syncwarp", file,
                                   line);
}
inline unsigned __ballot_sync(uint32_t mask, int predicate, TAPER_SITE) {
  taper::emulator::Voted<int> payload{predicate, 0};
  taper::emulator::warp_collective(mask, &payload, &taper::emulator::ballot, "__ballot_sync", file,
                                   line);
  return payload.result;
}
inline int __any_sync(uint32_t mask, int predicate, TAPER_SITE) {
  return __ballot_sync(mask, predicate, file, line) != 0;
}
inline int __all_sync(uint32_t mask, int predicate, TAPER_SITE) {
  return __ballot_sync(mask, predicate == 0, file, line) == 0;
}
template <class T>
unsigned __match_any_sync(uint32_t mask, T value, TAPER_SITE) {
  taper::emulator::Voted<T> payload{value, 0};
  taper::emulator::warp_collective(mask, &payload, &taper::emulator::match<T>, "__match_any_sync",
                                   file, line);
  return payload.result;
}
template <class T>
unsigned __match_all_sync(uint32_t mask, T value, int* all, TAPER_SITE) {
  const unsigned same = __match_any_sync(mask, value, file, line);
  *all = same == mask;
  return *all ? mask : 0;
}

#define TAPER_REDUCE_SYNC(name, T, expression)                                                     \
  inline T name(uint32_t mask, T value, TAPER_SITE) {                                              \
    struct Op {                                                                                    \
      T operator()(T a, T b) const { return expression; }                                          \
    };                                                                                             \
    taper::emulator::Voted<T> payload{value, 0};                                                   \
    taper::emulator::warp_collective(mask, &payload, &taper::emulator::reduce<T, Op>, #name, file, \
                                     line);                                                        \
    return static_cast<T>(payload.result);                                                         \
  }
TAPER_REDUCE_SYNC(__reduce_add_sync, unsigned, a + b)
TAPER_REDUCE_SYNC(__reduce_add_sync, int, static_cast<int>(unsigned(a) + unsigned(b)))
TAPER_REDUCE_SYNC(__reduce_min_sync, unsigned, a < b ? a : b)
TAPER_REDUCE_SYNC(__reduce_min_sync, int, a < b ? a : b)
TAPER_REDUCE_SYNC(__reduce_max_sync, unsigned, a > b ? a : b)
TAPER_REDUCE_SYNC(__reduce_max_sync, int, a > b ? a : b)
TAPER_REDUCE_SYNC(__reduce_and_sync, unsigned, a& b)
TAPER_REDUCE_SYNC(__reduce_or_sync, unsigned, a | b)
TAPER_REDUCE_SYNC(__reduce_xor_sync, unsigned, a ^ b)
#undef TAPER_REDUCE_SYNC

/// Not emulated: no program defines its answer.
unsigned __activemask() = delete;
