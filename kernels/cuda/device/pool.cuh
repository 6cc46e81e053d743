#pragma once

#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/walk.cuh"

// Planes with a window sliding over them: pooling, and resizing, whose windows are where a pixel
// comes from. A thread computes a pixel, forward from the window it covers, backward from the
// windows that cover it: no two threads write to one place, so that sums have an order.

namespace taper::kernels::cuda {

constexpr int kPoolThreads = 256;

/// A PoolPlan in 32 bits.
struct PoolShape {
  int in_h, in_w, out_h, out_w, in_plane, out_plane;
  int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  Divider by_in_plane, by_in_w, by_out_plane, by_out_w;
};

struct PlanePlace {
  int plane, y, x;
};
__device__ __forceinline__ PlanePlace plane_place(int i, const Divider& by_plane,
                                                  const Divider& by_width) {
  const int plane = static_cast<int>(by_plane.quotient(static_cast<uint32_t>(i)));
  const int inside = i - plane * static_cast<int>(by_plane.divisor);
  const int y = static_cast<int>(by_width.quotient(static_cast<uint32_t>(inside)));
  return {plane, y, inside - y * static_cast<int>(by_width.divisor)};
}
__device__ __forceinline__ PlanePlace out_place(int i, const PoolShape& s) {
  return plane_place(i, s.by_out_plane, s.by_out_w);
}
__device__ __forceinline__ PlanePlace in_place(int i, const PoolShape& s) {
  return plane_place(i, s.by_in_plane, s.by_in_w);
}

/// [lo, hi)
struct Range {
  int lo, hi;
};

/// The output rows (or columns) whose windows may reach input row i.
__device__ __forceinline__ Range windows_over(int i, int out, int kernel, int stride, int pad,
                                              int dilation) {
  const int last = i + pad, first = last - (kernel - 1) * dilation;
  const int lo = first <= 0 ? 0 : (first + stride - 1) / stride;
  const int hi = last / stride + 1;
  return {lo, hi < out ? hi : out};
}

/// Calls f(i) for the pixels that are this thread's.
template <class F>
__device__ __forceinline__ void for_pixels(int count, const F& f) {
  const int step = static_cast<int>(gridDim.x) * kPoolThreads;
  for (int i = static_cast<int>(blockIdx.x) * kPoolThreads + static_cast<int>(threadIdx.x);
       i < count; i += step) {
    f(i);
  }
}

}  // namespace taper::kernels::cuda
