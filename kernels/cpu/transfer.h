#pragma once

#include <cstdint>

#include "taper/kernels/cpu/cpu.h"

// Moving elements between memory and dense buffers, by element size: strided, broadcast,
// transposed.

TAPER_CPU_BEGIN

/// One side of a move over a two-dimensional piece; strides in bytes, 0 the inner dimension.
struct Side {
  char* data;
  int64_t stride0, stride1;
};

/// to[j][i] = from[j][i] for i < n0, j < n1. `size` is 1, 2, 4 or 8. Transposes in registers where
/// one side is dense along dimension 0 and the other along dimension 1.
void move_elements(int size, Side to, Side from, int64_t n0, int64_t n1);

/// memcpy past the caches: for results that will not stay in them anyway. End with `stream_fence()`
/// (vec.h).
void stream_copy(void* to, const void* from, int64_t bytes);

// Dense halves to float and back, rounded to nearest even.
void widen(float* to, const void* from, ScalarType half, int64_t count);
void narrow(void* to, const float* from, ScalarType half, int64_t count);

TAPER_CPU_END
