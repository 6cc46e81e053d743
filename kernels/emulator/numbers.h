#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <library_types.h>

#include <cstdint>

// Numbers in memory whose type is known at run time, for the emulated libraries.

namespace taper::emulator {

/// Calls visit with a value of the type; false for a type that is not there.
template <class Visit>
bool with_type(cudaDataType type, const Visit& visit) {
  switch (type) {
    case CUDA_R_32F:
      return visit(float()), true;
    case CUDA_R_64F:
      return visit(double()), true;
    case CUDA_R_16F:
      return visit(__half()), true;
    case CUDA_R_16BF:
      return visit(__nv_bfloat16()), true;
    default:
      return false;
  }
}

inline float widen(float x) { return x; }
inline double widen(double x) { return x; }
inline float widen(__half x) { return __half2float(x); }
inline float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
inline void narrow(float x, float& to) { to = x; }
inline void narrow(double x, double& to) { to = x; }
inline void narrow(float x, __half& to) { to = __float2half_rn(x); }
inline void narrow(float x, __nv_bfloat16& to) { to = __float2bfloat16_rn(x); }

}  // namespace taper::emulator
