#pragma once

#include <limits>
#include <memory>
#include <random>

#include "support.h"

// Data and shapes for the tests of indexing kernels.

namespace cuda_tests {

/// body(T{}, dtype) for every dtype; the elements of a bool tensor are bytes here.
template <class Body>
void for_every_dtype(const Body& body) {
  body(float{}, kFloat);
  body(double{}, kDouble);
  body(Half{}, kHalf);
  body(BFloat16{}, kBFloat16);
  body(int64_t{}, kLong);
  body(int32_t{}, kInt);
  body(int16_t{}, kShort);
  body(int8_t{}, kChar);
  body(uint8_t{}, kByte);
  body(uint8_t{}, kBool);
}

/// Numbers of either sign with a fraction where the type has one, zeros and, now and then, NaN and
/// infinities.
template <class T>
std::vector<T> random_values(size_t count, ScalarType dtype, uint32_t seed, bool special = true) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    const int draw = static_cast<int>(random() % 1000);
    if (dtype == kBool) {
      value = static_cast<T>(draw % 2);
    } else if (!is_floating_point(dtype)) {
      value = static_cast<T>(draw - 500);
    } else if (special && draw < 6) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      const float specials[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                                0.f,       -0.f,       1.f};
      value = static_cast<T>(specials[draw]);
    } else {
      value = static_cast<T>(static_cast<float>(draw - 500) / 37.f);
    }
  }
  return values;
}

template <class Index>
std::vector<Index> random_indices(size_t count, int64_t low, int64_t high, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Index> indices(count);
  for (Index& index : indices) {
    index = static_cast<Index>(low + static_cast<int64_t>(random() % (high - low)));
  }
  return indices;
}

/// An operand of a plan on both sides: the kernel's first call gets host(), its second device().
template <class T>
void* place(Twin<T>& twin, bool on_device, int64_t offset = 0) {
  return (on_device ? twin.device() : twin.host()) + offset;
}

/// Runs call(table, stream, on_device) on the CPU and on CUDA.
template <class Call>
void on_both(const Call& call) {
  require_ok(call(kernels_for(kCPU), stream_for(kCPU), false));
  require_ok(call(cuda_table(), cuda_stream(), true));
}

/// What the next wait has to say about an index.
inline void check_fault(int64_t value, int64_t limit) {
  const Status status = cuda_runtime().stream_synchronize(cuda_stream());
  CHECK(status.code == Code::kIndexOutOfRange);
  CHECK(status.value == value);
  CHECK(status.limit == limit);
  REQUIRE(status.what != nullptr);
  CHECK(status.what == std::string(kTestOp));
  wait();  // it is reported once
}

}  // namespace cuda_tests
