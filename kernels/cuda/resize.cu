#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/pool.h"

// Resizing of planes, nearest and bilinear. Backward, a pixel asks the output pixels near its own
// place whether they read it, by the very function that forward asks.

namespace taper::kernels::cuda {

namespace {

/// An output pixel is (1 - weight) * in[first] + weight * in[second] along one axis.
template <class C>
struct Tap {
  int first, second;
  C weight;
};

template <class C>
__device__ __forceinline__ Tap<C> tap_of(ResizeMode mode, int index, int in, double scale) {
  if (mode == ResizeMode::kNearest) {
    // In float, whatever the dtype: so does PyTorch, and the rounding decides which pixel is meant.
    const float at = floorf(static_cast<float>(index) * static_cast<float>(scale));
    const int first = at < static_cast<float>(in - 1) ? static_cast<int>(at) : in - 1;
    return {first, first, C(0)};
  }
  const C step = static_cast<C>(scale);
  C at = mode == ResizeMode::kBilinear ? step * (static_cast<C>(index) + C(0.5)) - C(0.5)
                                       : step * static_cast<C>(index);
  at = at > C(0) ? at : C(0);
  const int first = at < static_cast<C>(in - 1) ? static_cast<int>(at) : in - 1;
  const C rest = at - static_cast<C>(first);
  return {first, first + (first < in - 1), rest < C(0) ? C(0) : rest > C(1) ? C(1) : rest};
}

/// Output pixels that may read input pixel i. Wider than need be: what is exact is tap_of.
__device__ __forceinline__ Range readers_of(int i, int in, int out, double scale) {
  if (!(scale > 0)) return {0, out};
  const double margin = 2 + out * 1e-6;
  const double lo = (i - 1) / scale - margin, hi = (i + 2) / scale + margin;
  // What would lie outside of the input is clamped to its first and last pixel.
  return {i == 0 || lo < 0 ? 0
          : lo < out       ? static_cast<int>(lo)
                           : out,
          i >= in - 1 || hi > out ? out : static_cast<int>(hi)};
}

template <class Word>
__global__ void __launch_bounds__(kPoolThreads)
    resize_nearest_per_output(Word* out, const Word* in, double scale_h, double scale_w,
                              PoolShape s, int count) {
  for_pixels(count, [&](int i) {
    const PlanePlace at = out_place(i, s);
    const int y = tap_of<float>(ResizeMode::kNearest, at.y, s.in_h, scale_h).first;
    const int x = tap_of<float>(ResizeMode::kNearest, at.x, s.in_w, scale_w).first;
    out[i] = in[int64_t{at.plane} * s.in_plane + y * s.in_w + x];
  });
}

template <class T>
__global__ void __launch_bounds__(kPoolThreads)
    resize_bilinear_per_output(T* out, const T* in, ResizeMode mode, double scale_h, double scale_w,
                               PoolShape s, int count) {
  using C = compute_t<T>;
  for_pixels(count, [&](int i) {
    const PlanePlace at = out_place(i, s);
    const Tap<C> row = tap_of<C>(mode, at.y, s.in_h, scale_h);
    const Tap<C> col = tap_of<C>(mode, at.x, s.in_w, scale_w);
    const T* const plane = in + int64_t{at.plane} * s.in_plane;
    const T *const upper = plane + row.first * s.in_w, *const lower = plane + row.second * s.in_w;
    const auto mixed = [&](int x) {
      return widen(upper[x]) * (C(1) - row.weight) + widen(lower[x]) * row.weight;
    };
    out[i] = narrow<T>(mixed(col.first) * (C(1) - col.weight) + mixed(col.second) * col.weight);
  });
}

template <class T>
__global__ void __launch_bounds__(kPoolThreads)
    resize_gradient_per_input(T* grad_in, const T* grad_out, ResizeMode mode, double scale_h,
                              double scale_w, PoolShape s, int count) {
  using C = compute_t<T>;
  for_pixels(count, [&](int i) {
    const PlanePlace at = in_place(i, s);
    const T* const plane = grad_out + int64_t{at.plane} * s.out_plane;
    const Range rows = readers_of(at.y, s.in_h, s.out_h, scale_h);
    const Range cols = readers_of(at.x, s.in_w, s.out_w, scale_w);
    C sum = 0;
    for (int y = rows.lo; y < rows.hi; ++y) {
      const Tap<C> row = tap_of<C>(mode, y, s.in_h, scale_h);
      if (row.first != at.y && row.second != at.y) continue;
      C of_row = 0;
      for (int x = cols.lo; x < cols.hi; ++x) {
        const Tap<C> col = tap_of<C>(mode, x, s.in_w, scale_w);
        if (col.first != at.x && col.second != at.x) continue;
        const C g = widen(plane[y * s.out_w + x]);
        if (col.first == at.x) of_row += g * (C(1) - col.weight);
        // Not 0 * inf: what was not read has no part in an infinite gradient.
        if (col.second == at.x && col.weight != C(0)) of_row += g * col.weight;
      }
      if (row.first == at.y) sum += of_row * (C(1) - row.weight);
      if (row.second == at.y && row.weight != C(0)) sum += of_row * row.weight;
    }
    grad_in[i] = narrow<T>(sum);
  });
}

template <class Word>
Status nearest(void* out, const void* in, double scale_h, double scale_w, const PoolPlan& p,
               const Stream& stream) {
  return launch_pixels(p, stream, resize_nearest_per_output<Word>, static_cast<Word*>(out),
                       p.out_h * p.out_w, static_cast<const Word*>(in), p.in_h * p.in_w, scale_h,
                       scale_w, shape_of(p));
}

}  // namespace

Status resize_forward(ResizeMode mode, void* out, const void* in, double scale_h, double scale_w,
                      const PoolPlan& p, Stream stream) {
  const int64_t out_plane = p.out_h * p.out_w;
  if (p.planes == 0 || out_plane == 0) return {};
  if (mode == ResizeMode::kNearest) {  // moves elements, whatever they are
    switch (element_size(p.dtype)) {
      case 1:
        return nearest<uint8_t>(out, in, scale_h, scale_w, p, stream);
      case 2:
        return nearest<uint16_t>(out, in, scale_h, scale_w, p, stream);
      case 4:
        return nearest<uint32_t>(out, in, scale_h, scale_w, p, stream);
      default:
        return nearest<uint64_t>(out, in, scale_h, scale_w, p, stream);
    }
  }
  return for_floating(p.dtype, [&](auto type) {
    using T = decltype(type);
    return launch_pixels(p, stream, resize_bilinear_per_output<T>, static_cast<T*>(out), out_plane,
                         static_cast<const T*>(in), p.in_h * p.in_w, mode, scale_h, scale_w,
                         shape_of(p));
  });
}

Status resize_backward(ResizeMode mode, void* grad_in, const void* grad_out, double scale_h,
                       double scale_w, const PoolPlan& p, Stream stream) {
  const int64_t in_plane = p.in_h * p.in_w;
  if (p.planes == 0 || in_plane == 0) return {};
  return for_floating(p.dtype, [&](auto type) {
    using T = decltype(type);
    return launch_pixels(p, stream, resize_gradient_per_input<T>, static_cast<T*>(grad_in),
                         in_plane, static_cast<const T*>(grad_out), p.out_h * p.out_w, mode,
                         scale_h, scale_w, shape_of(p));
  });
}

}  // namespace taper::kernels::cuda
