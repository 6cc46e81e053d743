#pragma once

#include "taper/kernels/functors/math.h"

// Philox 4x32-10, a generator without state (Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", 2011): four words are a function of a key and a counter. And how
// cuRAND makes numbers of words, which is how PyTorch makes them on CUDA.

namespace taper::kernels::functors {

struct Words4 {
  uint32_t word[4];
};

/// The counter's four words are those of `low` and of `high`, low words first.
TAPER_INLINE TAPER_HOST_DEVICE Words4 philox(uint64_t key, uint64_t low, uint64_t high) {
  uint32_t c0 = static_cast<uint32_t>(low), c1 = static_cast<uint32_t>(low >> 32);
  uint32_t c2 = static_cast<uint32_t>(high), c3 = static_cast<uint32_t>(high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53u} * c0, b = uint64_t{0xcd9e8d57u} * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(b);
    c3 = static_cast<uint32_t>(a);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

/// In (0, 1]: the numbers next to 1 round to it.
TAPER_INLINE TAPER_HOST_DEVICE float uniform_of_word(uint32_t word) {
  return static_cast<float>(word) * 0x1p-32f + 0x1p-33f;
}
/// In (0, 1], of 53 bits.
TAPER_INLINE TAPER_HOST_DEVICE double uniform_of_words(uint32_t low, uint32_t high) {
  return static_cast<double>(low ^ (uint64_t{high} << 21)) * 0x1p-53 + 0x1p-54;
}

/// Two independent standard normal numbers (Box and Muller).
TAPER_INLINE TAPER_HOST_DEVICE void normals_of_words(uint32_t x, uint32_t y, float& first,
                                                     float& second) {
  constexpr float kTurn = 6.2831855f;
  const float angle = ::fmaf(static_cast<float>(y), 0x1p-32f * kTurn, 0x1p-33f * kTurn);
  const float radius = ::sqrtf(-2.0f * ::logf(uniform_of_word(x)));
#if defined(__CUDA_ARCH__)
  float sine, cosine;  // cuRAND takes the fast ones here
  __sincosf(angle, &sine, &cosine);
#else
  const float sine = ::sinf(angle), cosine = ::cosf(angle);
#endif
  first = sine * radius;
  second = cosine * radius;
}
TAPER_INLINE TAPER_HOST_DEVICE void normals_of_words(const Words4& w, double& first,
                                                     double& second) {
  const double half_turns =
      static_cast<double>(w.word[2] ^ (uint64_t{w.word[3]} << 21)) * 0x1p-52 + 0x1p-53;
  const double radius = ::sqrt(-2.0 * ::log(uniform_of_words(w.word[0], w.word[1])));
#if defined(__CUDA_ARCH__)
  double sine, cosine;
  sincospi(half_turns, &sine, &cosine);
#else
  constexpr double kPi = 3.14159265358979323846;
  const double sine = ::sin(half_turns * kPi), cosine = ::cos(half_turns * kPi);
#endif
  first = sine * radius;
  second = cosine * radius;
}

}  // namespace taper::kernels::functors
