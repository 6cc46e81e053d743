#pragma once

#include "taper/kernels/cpu/vec.h"

// The transforms of Winograd's F(2x2, 3x3), each on one axis of a square of registers `s` apart;
// applied along rows and columns. Lavin and Gray, arXiv 1509.09308.

TAPER_CPU_BEGIN
namespace winograd {

using Raw = Vec<float>::Raw;
constexpr int64_t kLanes = Vec<float>::kSize;
constexpr int kPoints = 16;  // of a transformed tile, 4 x 4

/// Input: B^T d, four numbers to four.
TAPER_INLINE void input_axis(Raw* d, int s) {
  const Raw d0 = d[0], d1 = d[s], d2 = d[2 * s], d3 = d[3 * s];
  d[0] = d0 - d2;
  d[s] = d1 + d2;
  d[2 * s] = d2 - d1;
  d[3 * s] = d1 - d3;
}

/// Output: A^T m, four to two.
TAPER_INLINE void output_axis(Raw* m, int s) {
  const Raw sum = m[s] + m[2 * s], difference = m[s] - m[2 * s];
  m[0] += sum;
  m[s] = difference - m[3 * s];
}

/// Gradient of the output: A y, two to four.
TAPER_INLINE void gradient_axis(Raw* y, int s) {
  const Raw y0 = y[0], y1 = y[s];
  y[s] = y0 + y1;
  y[2 * s] = y0 - y1;
  y[3 * s] = -y1;
}

/// Weights: G w, three to four.
TAPER_INLINE void weight_axis(Raw* w, int s) {
  const Raw half_sum = 0.5f * (w[0] + w[2 * s]), half = 0.5f * w[s];
  w[3 * s] = w[2 * s];
  w[s] = half_sum + half;
  w[2 * s] = half_sum - half;
}

/// Gradient of the weights: G^T s, four to three.
TAPER_INLINE void weight_gradient_axis(Raw* w, int s) {
  const Raw half_sum = 0.5f * (w[s] + w[2 * s]), half_difference = 0.5f * (w[s] - w[2 * s]);
  w[0] += half_sum;
  w[s] = half_difference;
  w[2 * s] = half_sum + w[3 * s];
}

}  // namespace winograd
TAPER_CPU_END
