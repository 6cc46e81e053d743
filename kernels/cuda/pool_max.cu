#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/pool.h"

// Max-pooling. Windows are scanned in row-major order: the first of equals is chosen, NaN beats
// all.

namespace taper::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kPoolThreads)
    max_pool_per_output(T* out, uint8_t* window_index, int64_t* flat_index, const T* in,
                        PoolShape s, compute_t<T> lowest, int count) {
  using C = compute_t<T>;
  for_pixels(count, [&](int i) {
    const PlanePlace at = out_place(i, s);
    const T* const plane = in + int64_t{at.plane} * s.in_plane;
    const int y0 = at.y * s.stride_h - s.pad_h, x0 = at.x * s.stride_w - s.pad_w;
    C best = lowest;
    int best_y = -1, best_x = -1;  // in the window
    for (int ky = 0; ky < s.kernel_h; ++ky) {
      const int y = y0 + ky * s.dilation_h;
      if (y < 0 || y >= s.in_h) continue;
      for (int kx = 0; kx < s.kernel_w; ++kx) {
        const int x = x0 + kx * s.dilation_w;
        if (x < 0 || x >= s.in_w) continue;
        const C value = widen(plane[y * s.in_w + x]);
        // The first place stands even where nothing is above the lowest number.
        if (value > best || value != value || best_y < 0) best = value, best_y = ky, best_x = kx;
      }
    }
    if (best_y < 0) best_y = best_x = 0;
    out[i] = narrow<T>(best);
    if (window_index) window_index[i] = static_cast<uint8_t>(best_y * s.kernel_w + best_x);
    if (flat_index) {
      flat_index[i] = int64_t{y0 + best_y * s.dilation_h} * s.in_w + x0 + best_x * s.dilation_w;
    }
  });
}

/// The index is of the place in the window (uint8_t) or in the input plane (int64_t).
template <class T, class Index>
__global__ void __launch_bounds__(kPoolThreads)
    max_pool_gradient_per_input(T* grad_in, const T* grad_out, const Index* index, const T* relu_of,
                                PoolShape s, int count) {
  using C = compute_t<T>;
  constexpr bool kInWindow = sizeof(Index) == 1;
  for_pixels(count, [&](int i) {
    const PlanePlace at = in_place(i, s);
    const int64_t first = int64_t{at.plane} * s.out_plane;
    const Range rows = windows_over(at.y, s.out_h, s.kernel_h, s.stride_h, s.pad_h, s.dilation_h);
    const Range cols = windows_over(at.x, s.out_w, s.kernel_w, s.stride_w, s.pad_w, s.dilation_w);
    C sum = 0;
    for (int y = rows.lo; y < rows.hi; ++y) {
      const int down = at.y + s.pad_h - y * s.stride_h;
      if (down % s.dilation_h != 0) continue;
      for (int x = cols.lo; x < cols.hi; ++x) {
        const int64_t o = first + y * s.out_w + x;
        bool mine;
        if constexpr (kInWindow) {
          const int across = at.x + s.pad_w - x * s.stride_w;
          const int place = down / s.dilation_h * s.kernel_w + across / s.dilation_w;
          mine = across % s.dilation_w == 0 && index[o] == place;
        } else {
          mine = index[o] == at.y * s.in_w + at.x;
        }
        if (mine && (!relu_of || widen(relu_of[o]) > C(0))) sum += widen(grad_out[o]);
      }
    }
    grad_in[i] = narrow<T>(sum);
  });
}

template <class T>
T* at_plane(T* data, int64_t elements) {
  return data ? data + elements : nullptr;
}

template <class T>
compute_t<T> lowest_number() {
  using C = compute_t<T>;
  if constexpr (std::numeric_limits<C>::has_infinity) {
    return -std::numeric_limits<C>::infinity();
  } else {
    return std::numeric_limits<C>::lowest();
  }
}

}  // namespace

Status max_pool_forward(void* out, uint8_t* window_index, int64_t* flat_index, const void* in,
                        const PoolPlan& p, Stream stream) {
  const int64_t out_plane = p.out_h * p.out_w;
  if (p.planes == 0 || out_plane == 0) return {};
  return for_dtypes<float, double, __half, __nv_bfloat16, int64_t, int32_t, int16_t, int8_t,
                    uint8_t>(p.dtype, [&](auto type) {
    using T = decltype(type);
    return for_planes(p, [&](int64_t first, int64_t planes) {
      const int64_t count = planes * out_plane, to = first * out_plane;
      return launch(stream, max_pool_per_output<T>, pool_blocks(count, stream), dim3(kPoolThreads),
                    0, static_cast<T*>(out) + to, at_plane(window_index, to),
                    at_plane(flat_index, to), static_cast<const T*>(in) + first * p.in_h * p.in_w,
                    shape_of(p), lowest_number<T>(), count);
    });
  });
}

Status max_pool_backward(void* grad_in, const void* grad_out, const uint8_t* window_index,
                         const int64_t* flat_index, const void* relu_of, const PoolPlan& p,
                         Stream stream) {
  const int64_t in_plane = p.in_h * p.in_w;
  if (p.planes == 0 || in_plane == 0) return {};
  return for_floating(p.dtype, [&](auto type) {
    using T = decltype(type);
    return for_planes(p, [&](int64_t first, int64_t planes) {
      const int64_t count = planes * in_plane, from = first * p.out_h * p.out_w;
      const auto run = [&](const auto* index) {
        using Index = std::remove_cvref_t<decltype(*index)>;
        return launch(stream, max_pool_gradient_per_input<T, Index>, pool_blocks(count, stream),
                      dim3(kPoolThreads), 0, static_cast<T*>(grad_in) + first * in_plane,
                      static_cast<const T*>(grad_out) + from, index + from,
                      at_plane(static_cast<const T*>(relu_of), from), shape_of(p), count);
      };
      return window_index ? run(window_index) : run(flat_index);
    });
  });
}

}  // namespace taper::kernels::cuda
