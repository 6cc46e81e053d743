#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuda_tests {

/// Whole numbers from -limit to limit (from 0 where T has no sign): their sums of products are
/// exact in float, so that results may be compared bit for bit in whatever order they were summed.
template <class T>
std::vector<T> whole_numbers(size_t count, uint32_t seed, int limit = 3) {
  std::vector<T> values(count);
  uint32_t state = seed * 2654435761u + 12345;
  for (T& value : values) {
    state = state * 1664525u + 1013904223u;
    const int number = static_cast<int>((state >> 16) % (2 * static_cast<uint32_t>(limit) + 1));
    value = static_cast<T>(static_cast<float>(T(-1) < T(0) ? number - limit : number));
  }
  return values;
}

/// Reals in [-1, 1).
template <class T>
std::vector<T> reals(size_t count, uint32_t seed) {
  std::vector<T> values(count);
  uint32_t state = seed * 2654435761u + 12345;
  for (T& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<T>(static_cast<float>(state >> 8) * 0x1p-23f - 1.0f);
  }
  return values;
}

}  // namespace cuda_tests
