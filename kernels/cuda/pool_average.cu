#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/pool.h"

// Average pooling, sliding and adaptive: they differ in where a window begins and ends.

namespace taper::kernels::cuda {

namespace {

/// What one output row or column covers of the input: [lo, hi), and the extent that counts as its
/// size.
struct Window {
  int lo, hi, extent;
};

/// PyTorch's rule: the window is cut at the padded edge (the overhang of ceil_mode never counts),
/// and the extent includes the padding where it is to be counted.
struct SlidingWindows {
  bool count_pad;

  static __device__ __forceinline__ Window of(int i, int in, int kernel, int stride, int pad,
                                              bool count_pad) {
    const int start = i * stride - pad;
    const int end = start + kernel < in + pad ? start + kernel : in + pad;
    const int lo = start > 0 ? start : 0, inner = end < in ? end : in;
    const int hi = inner > lo ? inner : lo;
    return {lo, hi, count_pad ? end - start : hi - lo};
  }
  __device__ __forceinline__ Window row(int y, const PoolShape& s) const {
    return of(y, s.in_h, s.kernel_h, s.stride_h, s.pad_h, count_pad);
  }
  __device__ __forceinline__ Window col(int x, const PoolShape& s) const {
    return of(x, s.in_w, s.kernel_w, s.stride_w, s.pad_w, count_pad);
  }
  __device__ __forceinline__ Range rows_over(int y, const PoolShape& s) const {
    return windows_over(y, s.out_h, s.kernel_h, s.stride_h, s.pad_h, 1);
  }
  __device__ __forceinline__ Range cols_over(int x, const PoolShape& s) const {
    return windows_over(x, s.out_w, s.kernel_w, s.stride_w, s.pad_w, 1);
  }
};

/// Window i covers [floor(i * in / out), ceil((i + 1) * in / out)).
struct AdaptiveWindows {
  static __device__ __forceinline__ int scaled(int i, int to, int from) {
    return static_cast<int>(int64_t{i} * to / from);
  }
  static __device__ __forceinline__ int scaled_up(int i, int to, int from) {
    return static_cast<int>((int64_t{i} * to + from - 1) / from);
  }
  static __device__ __forceinline__ Window of(int i, int in, int out) {
    const int lo = scaled(i, in, out), hi = scaled_up(i + 1, in, out);
    return {lo, hi, hi - lo};
  }
  __device__ __forceinline__ Window row(int y, const PoolShape& s) const {
    return of(y, s.in_h, s.out_h);
  }
  __device__ __forceinline__ Window col(int x, const PoolShape& s) const {
    return of(x, s.in_w, s.out_w);
  }
  // The same formula read backwards: i is covered from where (o + 1) * in / out is above i.
  __device__ __forceinline__ Range rows_over(int y, const PoolShape& s) const {
    return {scaled(y, s.out_h, s.in_h), scaled_up(y + 1, s.out_h, s.in_h)};
  }
  __device__ __forceinline__ Range cols_over(int x, const PoolShape& s) const {
    return {scaled(x, s.out_w, s.in_w), scaled_up(x + 1, s.out_w, s.in_w)};
  }
};

template <class C>
__device__ __forceinline__ C divisor(const Window& row, const Window& col, C fixed) {
  return fixed != C(0) ? fixed : static_cast<C>(row.extent) * static_cast<C>(col.extent);
}

template <class T, class Windows>
__global__ void __launch_bounds__(kPoolThreads)
    average_pool_per_output(T* out, const T* in, PoolShape s, Windows windows, compute_t<T> fixed,
                            int count) {
  using C = compute_t<T>;
  for_pixels(count, [&](int i) {
    const PlanePlace at = out_place(i, s);
    const Window row = windows.row(at.y, s), col = windows.col(at.x, s);
    const T* const plane = in + int64_t{at.plane} * s.in_plane;
    C sum = 0;
    const T* from = plane + row.lo * s.in_w;
    for (int y = row.lo; y < row.hi; ++y, from += s.in_w) {
      for (int x = col.lo; x < col.hi; ++x) sum += widen(from[x]);
    }
    // An empty window has no extent to divide by.
    if (row.lo < row.hi && col.lo < col.hi) sum /= divisor<C>(row, col, fixed);
    out[i] = narrow<T>(sum);
  });
}

// Two places to divide by for each window: they take 80 registers.
constexpr int kGradientBlocks = 3;

template <class T, class Windows>
__global__ void __launch_bounds__(kPoolThreads, kGradientBlocks)
    average_pool_gradient_per_input(T* grad_in, const T* grad_out, PoolShape s, Windows windows,
                                    compute_t<T> fixed, int count) {
  using C = compute_t<T>;
  for_pixels(count, [&](int i) {
    const PlanePlace at = in_place(i, s);
    const Range rows = windows.rows_over(at.y, s), cols = windows.cols_over(at.x, s);
    const T* const plane = grad_out + int64_t{at.plane} * s.out_plane;
    C sum = 0;
    for (int y = rows.lo; y < rows.hi; ++y) {
      const Window row = windows.row(y, s);
      C of_row = 0;
      for (int x = cols.lo; x < cols.hi; ++x) {
        of_row += widen(plane[y * s.out_w + x]) / divisor<C>(row, windows.col(x, s), fixed);
      }
      sum += of_row;
    }
    grad_in[i] = narrow<T>(sum);
  });
}

template <class Windows>
Status run_forward(void* out, const void* in, const PoolPlan& p, Windows windows, int64_t fixed,
                   const Stream& stream) {
  const int64_t in_plane = p.in_h * p.in_w, out_plane = p.out_h * p.out_w;
  if (p.planes == 0 || out_plane == 0) return {};
  return for_floating(p.dtype, [&](auto type) {
    using T = decltype(type);
    return launch_pixels(p, stream, average_pool_per_output<T, Windows>, static_cast<T*>(out),
                         out_plane, static_cast<const T*>(in), in_plane, shape_of(p), windows,
                         fixed);
  });
}

template <class Windows>
Status run_backward(void* grad_in, const void* grad_out, const PoolPlan& p, Windows windows,
                    int64_t fixed, const Stream& stream) {
  const int64_t in_plane = p.in_h * p.in_w, out_plane = p.out_h * p.out_w;
  if (p.planes == 0 || in_plane == 0) return {};
  return for_floating(p.dtype, [&](auto type) {
    using T = decltype(type);
    return launch_pixels(p, stream, average_pool_gradient_per_input<T, Windows>,
                         static_cast<T*>(grad_in), in_plane, static_cast<const T*>(grad_out),
                         out_plane, shape_of(p), windows, fixed);
  });
}

}  // namespace

Status avg_pool_forward(void* out, const void* in, const PoolPlan& p, Stream stream) {
  return run_forward(out, in, p, SlidingWindows{p.count_include_pad}, p.divisor_override, stream);
}
Status avg_pool_backward(void* grad_in, const void* grad_out, const PoolPlan& p, Stream stream) {
  return run_backward(grad_in, grad_out, p, SlidingWindows{p.count_include_pad}, p.divisor_override,
                      stream);
}
Status adaptive_avg_pool_forward(void* out, const void* in, const PoolPlan& p, Stream stream) {
  return run_forward(out, in, p, AdaptiveWindows{}, 0, stream);
}
Status adaptive_avg_pool_backward(void* grad_in, const void* grad_out, const PoolPlan& p,
                                  Stream stream) {
  return run_backward(grad_in, grad_out, p, AdaptiveWindows{}, 0, stream);
}

}  // namespace taper::kernels::cuda
