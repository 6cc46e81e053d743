#pragma once

#include <random>

#include "support.h"

// Inputs for the tests of kernels, and how close their results have to be.

namespace cuda_tests {

#define TAPER_FLOATING_TYPES float, double, Half, BFloat16

template <class T>
using StatisticsOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Numbers in [low, high), the same for a seed.
template <class T>
std::vector<T> numbers(int64_t count, unsigned seed, double low = -2, double high = 2) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& x : values) x = static_cast<T>(static_cast<StatisticsOf<T>>(draw(engine)));
  return values;
}

/// A few roundings in T.
template <class T>
double tolerance() {
  if constexpr (std::is_same_v<T, double>) return 1e-12;
  if constexpr (std::is_same_v<T, float>) return 4e-6;
  if constexpr (std::is_same_v<T, Half>) return 2e-3;
  return 1.6e-2;
}

/// Runs call(table, stream, on_device) on the CPU, then on CUDA.
template <class Call>
void on_both(const Call& call) {
  require_ok(call(kernels_for(kCPU), stream_for(kCPU), false));
  require_ok(call(cuda_table(), cuda_stream(), true));
}

/// The twin's array on one side. `shift`: begins at that element, so that packs are not aligned.
template <class T>
T* side(Twin<T>& twin, bool on_device, int64_t shift = 0) {
  return (on_device ? twin.device() : twin.host()) + shift;
}

/// What the next wait says, once.
inline void check_fault(Code code, const std::string& what, int64_t value, int64_t limit) {
  const Status status = cuda_runtime().stream_synchronize(cuda_stream());
  CHECK(status.code == code);
  CHECK(status.value == value);
  CHECK(status.limit == limit);
  CHECK(std::string(status.what ? status.what : "") == what);
  wait();
}

}  // namespace cuda_tests
