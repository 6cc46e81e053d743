#pragma once

#include <cstdint>

namespace taper {

/// State of the CPU generator: Mersenne Twister 19937 and the spare samples of the Box-Muller
/// pairs, as PyTorch keeps them, so that a seed gives PyTorch's numbers. Plain data: kernels
/// advance it.
struct CpuRngState {
  static constexpr int32_t kWords = 624;

  uint32_t words[kWords];
  int32_t next;  ///< index of the next word to temper; kWords: the block is used up
  bool has_spare_float;
  bool has_spare_double;
  float spare_float;  ///< part of PyTorch's state; its kernels no longer draw in float
  double spare_double;
};

/// State of a CUDA generator: Philox 4x32-10 is a function of the seed, of the thread's number and
/// of an offset, which each kernel moves on by what its threads drew, as PyTorch counts it.
struct CudaRngState {
  uint64_t seed;
  uint64_t offset;  ///< a multiple of 4
};

namespace detail {

/// Replaces the block of words by the following one (Matsumoto and Nishimura, 1998). The loops
/// carry no dependence closer than 227 words, so that compilers make vectors of them.
inline void next_block(CpuRngState& state) {
  constexpr int kLast = CpuRngState::kWords - 1, kMiddle = 397, kFirst = kLast + 1 - kMiddle;
  uint32_t* const w = state.words;
  const auto twist = [](uint32_t high, uint32_t low) {
    const uint32_t joined = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (joined >> 1) ^ ((0u - (low & 1u)) & 0x9908b0dfu);
  };
  for (int i = 0; i < kFirst; ++i) w[i] = w[i + kMiddle] ^ twist(w[i], w[i + 1]);
  for (int i = kFirst; i < kLast; ++i) w[i] = w[i - kFirst] ^ twist(w[i], w[i + 1]);
  w[kLast] = w[kMiddle - 1] ^ twist(w[kLast], w[0]);
  state.next = 0;
}

inline uint32_t temper(uint32_t word) {
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680u;
  word ^= (word << 15) & 0xefc60000u;
  return word ^ (word >> 18);
}

inline uint32_t draw_word(CpuRngState& state) {
  if (state.next >= CpuRngState::kWords) next_block(state);
  return temper(state.words[state.next++]);
}

/// Two words, the high one first.
inline uint64_t draw_long(CpuRngState& state) {
  const uint64_t high = draw_word(state);
  return (high << 32) | draw_word(state);
}

}  // namespace detail

}  // namespace taper
