#include <algorithm>
#include <cmath>
#include <type_traits>

#include "taper/kernels/cpu/gemm_blocked.h"
#include "taper/kernels/cpu/gemm_rows.h"

// Resizing of planes, nearest and bilinear. Where each output row and column reads is worked out
// once.

TAPER_CPU_BEGIN
namespace {

/// An output pixel is (1 - weight) * in[first] + weight * in[second] along one axis.
template <class T>
struct Tap {
  int64_t first, second;
  T weight;
};

template <class T>
Tap<T> tap_of(ResizeMode mode, int64_t index, int64_t in, double scale) {
  if (mode == ResizeMode::kNearest) {
    // In float, whatever the dtype: so does PyTorch, and the rounding decides which pixel is meant.
    const float at = std::floor(static_cast<float>(index) * static_cast<float>(scale));
    const int64_t first = std::min(static_cast<int64_t>(at), in - 1);
    return {first, first, T(0)};
  }
  const T step = static_cast<T>(scale);
  T at = mode == ResizeMode::kBilinear ? step * (static_cast<T>(index) + T(0.5)) - T(0.5)
                                       : step * static_cast<T>(index);
  at = std::max(at, T(0));
  const int64_t first = std::min(static_cast<int64_t>(at), in - 1);
  const T weight = std::min(std::max(at - static_cast<T>(first), T(0)), T(1));
  return {first, first + (first < in - 1), weight};
}

/// Taps of all output rows, then of all output columns.
template <class T>
void fill_taps(Tap<T>* taps, ResizeMode mode, double scale_h, double scale_w, const PoolPlan& p) {
  for (int64_t y = 0; y < p.out_h; ++y) taps[y] = tap_of<T>(mode, y, p.in_h, scale_h);
  for (int64_t x = 0; x < p.out_w; ++x) taps[p.out_h + x] = tap_of<T>(mode, x, p.in_w, scale_w);
}

template <class S>
Status nearest_forward(S* out, const S* in, double scale_h, double scale_w, const PoolPlan& p,
                       const Stream& stream) {
  const Scratch<Tap<float>> taps(stream, p.out_h + p.out_w);
  if (!taps.get()) return taps.failure();
  fill_taps(taps.get(), ResizeMode::kNearest, scale_h, scale_w, p);
  const Tap<float>* cols = taps.get() + p.out_h;
  const int64_t grain = (1 << 14) / (p.out_w + 1) + 1;
  parallel_for(stream, p.planes * p.out_h, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const S* from = in + (row / p.out_h * p.in_h + taps[row % p.out_h].first) * p.in_w;
      S* to = out + row * p.out_w;
      for (int64_t x = 0; x < p.out_w; ++x) to[x] = from[cols[x].first];
    }
  });
  return {};
}

template <class S>
Status bilinear_forward(ResizeMode mode, S* out, const S* in, double scale_h, double scale_w,
                        const PoolPlan& p, const Stream& stream) {
  using T = acc_t<S>;
  constexpr int64_t n = Vec<T>::kSize;
  const Scratch<Tap<T>> taps(stream, p.out_h + p.out_w + 1);
  if (!taps.get()) return taps.failure();
  fill_taps(taps.get(), mode, scale_h, scale_w, p);
  const Tap<T>* cols = taps.get() + p.out_h;
  const int64_t threads = threads_for(stream, p.planes * p.out_h * (p.out_w + p.in_w) * 4);
  const int64_t buffer = round_up(p.in_w + 1, 16);
  const Scratch<T> memory(stream, threads * buffer);
  if (!memory.get()) return memory.failure();
  for_pieces(stream, threads, p.planes * p.out_h, [&](int64_t piece, int64_t begin, int64_t end) {
    T* mixed = memory.get() + piece * buffer;
    for (int64_t row = begin; row < end; ++row) {
      const Tap<T> tap = taps[row % p.out_h];
      const S* plane = in + row / p.out_h * p.in_h * p.in_w;
      const S* upper = plane + tap.first * p.in_w;
      const S* lower = plane + tap.second * p.in_w;
      const Vec<T> keep = T(1) - tap.weight, weight = tap.weight;
      int64_t i = 0;
      for (; i + n <= p.in_w; i += n) {
        fma(load<S>(lower + i), weight, load<S>(upper + i) * keep).store(mixed + i);
      }
      for (; i < p.in_w; ++i) {
        mixed[i] =
            static_cast<T>(upper[i]) * (T(1) - tap.weight) + static_cast<T>(lower[i]) * tap.weight;
      }
      S* to = out + row * p.out_w;
      for (int64_t x = 0; x < p.out_w; ++x) {
        const Tap<T> col = cols[x];
        to[x] = S(mixed[col.first] * (T(1) - col.weight) + mixed[col.second] * col.weight);
      }
    }
  });
  return {};
}

/// The transpose of either: gradients go back along the taps, columns first, then whole rows.
template <class S>
Status backward(ResizeMode mode, S* grad_in, const S* grad_out, double scale_h, double scale_w,
                const PoolPlan& p, const Stream& stream) {
  using T = acc_t<S>;
  constexpr bool kWidens = !std::is_same_v<T, S>;
  const int64_t in_plane = p.in_h * p.in_w;
  const Scratch<Tap<T>> taps(stream, p.out_h + p.out_w + 1);
  if (!taps.get()) return taps.failure();
  fill_taps(taps.get(), mode, scale_h, scale_w, p);
  const Tap<T>* cols = taps.get() + p.out_h;
  const int64_t work = p.planes * (p.out_h * (p.out_w + p.in_w) + in_plane) * 4;
  const int64_t threads = std::max<int64_t>(1, std::min(p.planes, threads_for(stream, work)));
  const int64_t buffer = round_up(p.in_w + (kWidens ? in_plane : 0), 16);
  const Scratch<T> memory(stream, threads * buffer);
  if (!memory.get()) return memory.failure();
  for_pieces(stream, threads, p.planes, [&](int64_t piece, int64_t begin, int64_t end) {
    T* spread = memory.get() + piece * buffer;
    for (int64_t plane = begin; plane < end; ++plane) {
      T* sum = spread + p.in_w;
      if constexpr (!kWidens) sum = grad_in + plane * in_plane;
      std::fill(sum, sum + in_plane, T(0));
      for (int64_t y = 0; y < p.out_h; ++y) {
        const S* from = grad_out + (plane * p.out_h + y) * p.out_w;
        std::fill(spread, spread + p.in_w, T(0));
        for (int64_t x = 0; x < p.out_w; ++x) {
          const T g = static_cast<T>(from[x]);
          spread[cols[x].first] += g * (T(1) - cols[x].weight);
          // Not 0 * inf: what was not read has no part in an infinite gradient.
          if (cols[x].weight != T(0)) spread[cols[x].second] += g * cols[x].weight;
        }
        T* upper = sum + taps[y].first * p.in_w;
        T* lower = sum + taps[y].second * p.in_w;
        const T weight = taps[y].weight, keep = T(1) - weight;
        for (int64_t i = 0; i < p.in_w; ++i) upper[i] += spread[i] * keep;
        if (weight != T(0)) {
          for (int64_t i = 0; i < p.in_w; ++i) lower[i] += spread[i] * weight;
        }
      }
      if constexpr (kWidens) narrow_row(grad_in + plane * in_plane, sum, in_plane);
    }
  });
  return {};
}

}  // namespace

Status resize_forward(ResizeMode mode, void* out, const void* in, double scale_h, double scale_w,
                      const PoolPlan& plan, Stream stream) {
  if (plan.planes == 0 || plan.out_h == 0 || plan.out_w == 0) return {};
  if (mode == ResizeMode::kNearest) {
    return for_any(plan.dtype, [&](auto type) {
      using S = decltype(type);
      return nearest_forward(static_cast<S*>(out), static_cast<const S*>(in), scale_h, scale_w,
                             plan, stream);
    });
  }
  return for_floating(plan.dtype, [&](auto type) {
    using S = decltype(type);
    return bilinear_forward(mode, static_cast<S*>(out), static_cast<const S*>(in), scale_h, scale_w,
                            plan, stream);
  });
}

Status resize_backward(ResizeMode mode, void* grad_in, const void* grad_out, double scale_h,
                       double scale_w, const PoolPlan& plan, Stream stream) {
  if (plan.planes == 0 || plan.in_h == 0 || plan.in_w == 0) return {};
  return for_floating(plan.dtype, [&](auto type) {
    using S = decltype(type);
    return backward(mode, static_cast<S*>(grad_in), static_cast<const S*>(grad_out), scale_h,
                    scale_w, plan, stream);
  });
}

TAPER_CPU_END
