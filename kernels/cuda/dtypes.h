#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "taper/core/dtype.h"
#include "taper/kernels/cuda/context.h"

// From a dtype to its C++ type, and what pointers allow, on the host side of kernels.

namespace taper::kernels::cuda {

/// The type that elements of a dtype have in device code.
template <class T>
struct StoredDtype {
  static constexpr ScalarType value = dtype_of<T>;
};
template <>
struct StoredDtype<__half> {
  static constexpr ScalarType value = kHalf;
};
template <>
struct StoredDtype<__nv_bfloat16> {
  static constexpr ScalarType value = kBFloat16;
};

/// Calls visit(T()) for the dtype among Ts; unsupported() for any other.
template <class... Ts, class Visit>
Status for_dtypes(ScalarType dtype, const Visit& visit) {
  Status status = unsupported();
  static_cast<void>(
      ((dtype == StoredDtype<Ts>::value ? (status = visit(Ts()), true) : false) || ...));
  return status;
}
template <class Visit>
Status for_floating(ScalarType dtype, const Visit& visit) {
  return for_dtypes<float, double, __half, __nv_bfloat16>(dtype, visit);
}

/// Whether elements can be moved as packs of `bytes` from all of these addresses on. Null counts as
/// aligned.
template <class... P>
bool aligned_to(size_t bytes, const P*... pointers) {
  return (((reinterpret_cast<uintptr_t>(pointers) % bytes) == 0) && ...);
}
template <class... P>
bool aligned_16(const P*... pointers) {
  return aligned_to(16, pointers...);
}

/// A row is indexed by 32 bits and cannot be split.
constexpr int64_t kMaxRow = (int64_t{1} << 31) - 4096;
inline Status too_long() { return {Code::kInvalidValue, 0, 0, "a row of 2^31 elements or more"}; }

inline unsigned ceil_div(int64_t a, int64_t b) { return static_cast<unsigned>((a + b - 1) / b); }

/// Blocks of 256 threads for `steps` steps of elementwise work: as many as run at once, twice over;
/// threads then go on to further steps.
inline unsigned elementwise_blocks(int64_t steps, const Stream& stream) {
  const int64_t at_once = int64_t{properties_of(stream.device).multi_processor_count} * 8;
  return static_cast<unsigned>(std::clamp<int64_t>((steps + 255) / 256, 1, 2 * at_once));
}

}  // namespace taper::kernels::cuda
