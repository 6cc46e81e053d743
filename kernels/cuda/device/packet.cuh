#pragma once

#include "taper/core/macros.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// Elements in memory and in registers: the type that each dtype is computed in, and packets of
// elements that one instruction loads.

namespace taper::kernels::cuda {

// The type in which a thread computes elements of T: halves only load and store.
template <class T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<__half> {
  using type = float;
};
template <>
struct ComputeType<__nv_bfloat16> {
  using type = float;
};
template <class T>
using compute_t = typename ComputeType<T>::type;

template <class T>
TAPER_INLINE TAPER_HOST_DEVICE compute_t<T> widen(T value) {
  return value;
}
template <>
TAPER_INLINE TAPER_HOST_DEVICE float widen(__half value) {
  return __half2float(value);
}
template <>
TAPER_INLINE TAPER_HOST_DEVICE float widen(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

template <class T>
TAPER_INLINE TAPER_HOST_DEVICE T narrow(compute_t<T> value) {
  return value;
}
template <>
TAPER_INLINE TAPER_HOST_DEVICE __half narrow<__half>(float value) {
  return __float2half_rn(value);
}
template <>
TAPER_INLINE TAPER_HOST_DEVICE __nv_bfloat16 narrow<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

/// Neighbours in memory, aligned as a whole: up to 16 bytes, which is one load or store.
template <class T, int kSize>
struct alignas(kSize * sizeof(T)) Packet {
  static_assert(kSize * sizeof(T) <= 16);
  T at[kSize];
};

}  // namespace taper::kernels::cuda
