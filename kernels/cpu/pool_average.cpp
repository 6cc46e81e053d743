#include <algorithm>
#include <type_traits>

#include "taper/kernels/cpu/gemm_blocked.h"
#include "taper/kernels/cpu/gemm_rows.h"

// Average pooling, sliding and adaptive. Both are separable: rows of a window are added up as whole
// vectors, then the columns of that one row.

TAPER_CPU_BEGIN
namespace {

/// What one output row or column covers of the input: [lo, hi), and the extent that counts as its
/// size.
struct Window {
  int64_t lo, hi, extent;
};

/// PyTorch's rule: the window is cut at the padded edge (the overhang of ceil_mode never counts),
/// and `extent` includes the padding where it is to be counted.
Window sliding_window(int64_t index, int64_t in, int64_t kernel, int64_t stride, int64_t pad,
                      bool count_pad) {
  const int64_t start = index * stride - pad, end = std::min(start + kernel, in + pad);
  const int64_t lo = std::max<int64_t>(start, 0), hi = std::max(lo, std::min(end, in));
  return {lo, hi, count_pad ? end - start : hi - lo};
}

Window adaptive_window(int64_t index, int64_t in, int64_t out) {
  const int64_t lo = index * in / out, hi = ((index + 1) * in + out - 1) / out;
  return {lo, hi, hi - lo};
}

/// Windows of all output rows, then of all output columns.
void fill_windows(Window* windows, const PoolPlan& p, bool adaptive) {
  for (int64_t y = 0; y < p.out_h; ++y) {
    windows[y] =
        adaptive ? adaptive_window(y, p.in_h, p.out_h)
                 : sliding_window(y, p.in_h, p.kernel_h, p.stride_h, p.pad_h, p.count_include_pad);
  }
  for (int64_t x = 0; x < p.out_w; ++x) {
    windows[p.out_h + x] =
        adaptive ? adaptive_window(x, p.in_w, p.out_w)
                 : sliding_window(x, p.in_w, p.kernel_w, p.stride_w, p.pad_w, p.count_include_pad);
  }
}

template <class T>
T divisor(const Window& row, const Window& col, int64_t fixed) {
  return static_cast<T>(fixed != 0 ? fixed : row.extent * col.extent);
}

/// sum[i] += in[i]
template <class T, class S>
void add_row(T* sum, const S* in, int64_t count) {
  constexpr int64_t n = Vec<T>::kSize;
  int64_t i = 0;
  for (; i + n <= count; i += n) (Vec<T>::load(sum + i) + load<S>(in + i)).store(sum + i);
  for (; i < count; ++i) sum[i] += static_cast<T>(in[i]);
}

template <class S>
Status forward(S* out, const S* in, const PoolPlan& p, bool adaptive, const Stream& stream) {
  using T = acc_t<S>;
  const int64_t in_plane = p.in_h * p.in_w, fixed = adaptive ? 0 : p.divisor_override;
  if (p.planes == 0 || p.out_h == 0 || p.out_w == 0) return {};
  const Scratch<Window> windows(stream, p.out_h + p.out_w + 1);
  if (!windows.get()) return windows.failure();
  fill_windows(windows.get(), p, adaptive);
  const Window* rows = windows.get();
  const Window* cols = rows + p.out_h;
  if (p.out_h == 1 && p.out_w == 1 && cols->lo == 0 && cols->hi == p.in_w) {
    const T count = divisor<T>(*rows, *cols, fixed);
    const int64_t size = (rows->hi - rows->lo) * p.in_w;
    parallel_for(stream, p.planes, (1 << 15) / (size + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const S* from = in + plane * in_plane + rows->lo * p.in_w;
        out[plane] = S(size == 0 ? T(0) : sum_row<T>(from, size) / count);
      }
    });
    return {};
  }

  const int64_t threads = threads_for(stream, p.planes * in_plane * 4);
  const int64_t buffer = round_up(p.in_w + 1, 16);
  const Scratch<T> memory(stream, threads * buffer);
  if (!memory.get()) return memory.failure();
  for_pieces(stream, threads, p.planes * p.out_h, [&](int64_t piece, int64_t begin, int64_t end) {
    T* sum = memory.get() + piece * buffer;
    for (int64_t row = begin; row < end; ++row) {
      const Window window = rows[row % p.out_h];
      const S* plane = in + row / p.out_h * in_plane;
      std::fill(sum, sum + p.in_w, T(0));
      for (int64_t y = window.lo; y < window.hi; ++y) add_row(sum, plane + y * p.in_w, p.in_w);
      for (int64_t x = 0; x < p.out_w; ++x) {
        const Window col = cols[x];
        T total = 0;
        for (int64_t i = col.lo; i < col.hi; ++i) total += sum[i];
        const bool empty = window.lo == window.hi || col.lo == col.hi;
        out[row * p.out_w + x] = S(empty ? T(0) : total / divisor<T>(window, col, fixed));
      }
    }
  });
  return {};
}

template <class S>
Status backward(S* grad_in, const S* grad_out, const PoolPlan& p, bool adaptive,
                const Stream& stream) {
  using T = acc_t<S>;
  constexpr bool kWidens = !std::is_same_v<T, S>;
  const int64_t in_plane = p.in_h * p.in_w, fixed = adaptive ? 0 : p.divisor_override;
  if (p.planes == 0 || in_plane == 0) return {};
  const Scratch<Window> windows(stream, p.out_h + p.out_w + 1);
  if (!windows.get()) return windows.failure();
  fill_windows(windows.get(), p, adaptive);
  const Window* rows = windows.get();
  const Window* cols = rows + p.out_h;

  const int64_t threads = std::min(p.planes, threads_for(stream, p.planes * in_plane * 4));
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
        const Window window = rows[y];
        if (window.lo == window.hi) continue;
        const S* from = grad_out + (plane * p.out_h + y) * p.out_w;
        std::fill(spread, spread + p.in_w, T(0));
        for (int64_t x = 0; x < p.out_w; ++x) {
          const Window col = cols[x];
          if (col.lo == col.hi) continue;
          const T share = static_cast<T>(from[x]) / divisor<T>(window, col, fixed);
          for (int64_t i = col.lo; i < col.hi; ++i) spread[i] += share;
        }
        for (int64_t i = window.lo; i < window.hi; ++i) add_row(sum + i * p.in_w, spread, p.in_w);
      }
      if constexpr (kWidens) narrow_row(grad_in + plane * in_plane, sum, in_plane);
    }
  });
  return {};
}

Status run_forward(void* out, const void* in, const PoolPlan& plan, bool adaptive, Stream stream) {
  return for_floating(plan.dtype, [&](auto type) {
    using S = decltype(type);
    return forward(static_cast<S*>(out), static_cast<const S*>(in), plan, adaptive, stream);
  });
}

Status run_backward(void* grad_in, const void* grad_out, const PoolPlan& plan, bool adaptive,
                    Stream stream) {
  return for_floating(plan.dtype, [&](auto type) {
    using S = decltype(type);
    return backward(static_cast<S*>(grad_in), static_cast<const S*>(grad_out), plan, adaptive,
                    stream);
  });
}

}  // namespace

Status avg_pool_forward(void* out, const void* in, const PoolPlan& plan, Stream stream) {
  return run_forward(out, in, plan, false, stream);
}
Status avg_pool_backward(void* grad_in, const void* grad_out, const PoolPlan& plan, Stream stream) {
  return run_backward(grad_in, grad_out, plan, false, stream);
}
Status adaptive_avg_pool_forward(void* out, const void* in, const PoolPlan& plan, Stream stream) {
  return run_forward(out, in, plan, true, stream);
}
Status adaptive_avg_pool_backward(void* grad_in, const void* grad_out, const PoolPlan& plan,
                                  Stream stream) {
  return run_backward(grad_in, grad_out, plan, true, stream);
}

TAPER_CPU_END
