#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "taper/core/rng_state.h"
#include "taper/kernels/cpu/cpu.h"
#include "taper/kernels/cpu/vec.h"

// Drawing from the Mersenne Twister in bulk. How PyTorch makes numbers of words: 24 bits of one
// word for float (halves are rounded floats), 53 bits of two words, high one first, for double.

TAPER_CPU_BEGIN

/// Numbers handled at a time: a chunk and its words stay in the first-level cache.
constexpr int64_t kRandomChunk = 1024;

/// Writes the next `count` words.
inline void draw_words(CpuRngState& state, uint32_t* out, int64_t count) {
  while (count > 0) {
    if (state.next >= CpuRngState::kWords) taper::detail::next_block(state);
    const int64_t n = std::min<int64_t>(count, CpuRngState::kWords - state.next);
    const uint32_t* words = state.words + state.next;
    for (int64_t i = 0; i < n; ++i) out[i] = taper::detail::temper(words[i]);
    state.next += static_cast<int32_t>(n);
    out += n;
    count -= n;
  }
}

/// In [0, 1), a multiple of 2^-24.
TAPER_INLINE float uniform_float(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word & 0xffffffu)) * 0x1p-24f;
}
/// In [0, 1), a multiple of 2^-53.
TAPER_INLINE double uniform_double(uint64_t word) {
  return static_cast<double>(static_cast<int64_t>(word & ((uint64_t{1} << 53) - 1))) * 0x1p-53;
}

/// out[i] = map(word i).
template <class T, class Map>
void fill_from_words(CpuRngState& state, T* out, int64_t count, const Map& map) {
  uint32_t words[kRandomChunk];
  for (int64_t done = 0; done < count; done += kRandomChunk) {
    const int64_t n = std::min(kRandomChunk, count - done);
    draw_words(state, words, n);
    for (int64_t i = 0; i < n; ++i) out[done + i] = map(words[i]);
  }
}

/// 64 bits of two words, the first one high: one load and a rotation, which vectorise.
TAPER_INLINE uint64_t joined_words(const uint32_t* words) {
  uint64_t joined;
  std::memcpy(&joined, words, sizeof joined);
  return std::endian::native == std::endian::little ? std::rotl(joined, 32) : joined;
}

/// out[i] = map(64 bits from words 2i and 2i + 1).
template <class T, class Map>
void fill_from_longs(CpuRngState& state, T* out, int64_t count, const Map& map) {
  uint32_t words[2 * kRandomChunk];
  for (int64_t done = 0; done < count; done += kRandomChunk) {
    const int64_t n = std::min(kRandomChunk, count - done);
    draw_words(state, words, 2 * n);
    for (int64_t i = 0; i < n; ++i) out[done + i] = map(joined_words(words + 2 * i));
  }
}

/// x < p for a 53-bit uniform x is exactly (bits < bernoulli_threshold(p)).
inline int64_t bernoulli_threshold(double p) { return static_cast<int64_t>(std::ceil(p * 0x1p53)); }

/// out[i] = 1 with the probability of the threshold, else 0.
inline void draw_bernoulli(CpuRngState& state, uint8_t* out, int64_t count, int64_t threshold) {
  fill_from_longs(state, out, count, [threshold](uint64_t word) {
    return static_cast<uint8_t>(static_cast<int64_t>(word & ((uint64_t{1} << 53) - 1)) < threshold);
  });
}

/// Rounds floats to a 16-bit dtype.
template <class T>
void store_rounded(T* out, const float* in, int64_t count) {
  int64_t i = 0;
  for (; i + Vec<float>::kSize <= count; i += Vec<float>::kSize) {
    store<T>(out + i, Vec<float>::load(in + i));
  }
  if (i < count) store<T>(out + i, Vec<float>::load(in + i, count - i), count - i);
}

// The families, by file. All answer unsupported() for dtypes they have not.
Status random_uniform(const RandomArgs& args, CpuRngState& state);      // random_uniform.cpp
Status random_bernoulli(const RandomArgs& args, CpuRngState& state);    // random_uniform.cpp
Status random_integers(const RandomArgs& args, CpuRngState& state);     // random_integers.cpp
Status random_permutation(const RandomArgs& args, CpuRngState& state);  // random_integers.cpp
Status random_normal(const RandomArgs& args, CpuRngState& state);       // random_normal.cpp
/// Exponential, Cauchy, geometric, log-normal: a function of one or two uniforms.
Status random_transformed(const RandomArgs& args, CpuRngState& state);  // random_normal.cpp

TAPER_CPU_END
