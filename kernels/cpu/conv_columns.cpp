#include <algorithm>
#include <type_traits>

#include "taper/kernels/cpu/conv_plan.h"
#include "taper/kernels/cpu/gemm_transpose.h"

// For each output position, the input patch under the kernel becomes a column; the convolution is
// then a matrix product. Columns are made in slices of positions that stay in the second-level
// cache.

TAPER_CPU_BEGIN
namespace {

/// One group of one sample, its geometry in the plan.
struct Patches {
  const ConvPlan& plan;
  int64_t channels = plan.in_channels / plan.groups;
  int64_t out_channels = plan.out_channels / plan.groups;
  int64_t taps = plan.kernel_h * plan.kernel_w;
  int64_t rows = channels * taps;  ///< of the column matrix
  int64_t in_plane = plan.in_h * plan.in_w;
  int64_t positions = plan.out_h * plan.out_w;

  /// A 1x1 kernel without stride or padding: the input itself is the column matrix.
  bool is_input() const {
    return taps == 1 && plan.stride_h == 1 && plan.stride_w == 1 && plan.pad_h == 0 &&
           plan.pad_w == 0;
  }
  /// Positions per slice, so that a slice of columns takes about 256 KB; whole tiles, all about the
  /// same.
  int64_t slice(size_t element) const {
    constexpr int64_t kUnit = 32;
    const int64_t fit = (1 << 18) / static_cast<int64_t>(element) / std::max<int64_t>(1, rows);
    const int64_t most = std::max<int64_t>(2, fit / kUnit) * kUnit;
    const int64_t slices = std::max<int64_t>(1, (positions + most - 1) / most);
    return std::max(kUnit, round_up((positions + slices - 1) / slices, kUnit));
  }
};

/// Output x in [lo, hi) read input x * stride - pad + tap * dilation within [0, size).
struct Range {
  int64_t lo, hi;
};
Range valid_range(int64_t out, int64_t size, int64_t shift, int64_t stride) {
  const int64_t lo = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t hi = size - shift <= 0 ? 0 : (size - shift - 1) / stride + 1;
  return {std::min(lo, out), std::max(std::min(lo, out), std::min(hi, out))};
}

/// Calls visit(offset, x, count, in_y) for every run of positions [p0, p1) within one output row:
/// columns [x, x + count), the run starting at `offset` within the slice. in_y < 0: the row is
/// padding.
template <class Visit>
TAPER_INLINE void for_each_run(const ConvPlan& plan, int64_t ky, int64_t y, int64_t x, int64_t size,
                               const Visit& visit) {
  int64_t in_y = y * plan.stride_h - plan.pad_h + ky * plan.dilation_h;
  for (int64_t offset = 0; offset < size; in_y += plan.stride_h, x = 0) {
    const int64_t count = std::min(plan.out_w - x, size - offset);
    visit(offset, x, count, in_y >= 0 && in_y < plan.in_h ? in_y : -1);
    offset += count;
  }
}

/// to[i] = from[i * stride].
template <class T, class S>
TAPER_INLINE void take_row(T* to, const S* from, int64_t count, int64_t stride) {
  int64_t i = 0;
  if (stride == 1) return widen_row(to, from, count);
  if constexpr (std::is_same_v<T, S>) {
    constexpr int64_t n = Vec<T>::kSize;
    for (; stride == 2 && i < count; i += n) {
      // What is read ends with the last element that is wanted.
      const T* pair = from + 2 * i;
      const int64_t rest = std::min(n, count - i), read = 2 * rest - 1;
      const Vec<T> low = read >= n ? Vec<T>::load(pair) : Vec<T>::load(pair, read);
      const Vec<T> high = read > n ? Vec<T>::load(pair + n, read - n) : Vec<T>(T(0));
      const Vec<T> even = even_lanes(low, high);
      if (rest == n) {
        even.store(to + i);
      } else {
        even.store(to + i, rest);
      }
    }
  }
  for (; i < count; ++i) to[i] = static_cast<T>(from[i * stride]);
}

// Padding is mostly one element: too little for a call of memset.
template <class T>
TAPER_INLINE void clear_row(T* to, int64_t count) {
  if (count <= 0) return;
  if (count == 1) {
    *to = T(0);
  } else {
    std::fill(to, to + count, T(0));
  }
}

/// columns[(c * taps + tap) * (p1 - p0) + i] = the input under `tap` at position p0 + i, 0 in the
/// padding. A few channels come innermost: they share the bounds of a run.
template <class T, class S>
void gather_columns(T* columns, const S* in, const Patches& patches, int64_t p0, int64_t p1) {
  constexpr int64_t kTogether = 8;  // more would meet in the same sets of the cache
  const ConvPlan& plan = patches.plan;
  const int64_t y0 = p0 / plan.out_w, x0 = p0 - y0 * plan.out_w;
  const int64_t channel = patches.taps * (p1 - p0);  // from a channel's rows to the next
  for (int64_t c0 = 0; c0 < patches.channels; c0 += kTogether) {
    const int64_t channels = std::min(kTogether, patches.channels - c0);
    const S* planes = in + c0 * patches.in_plane;
    T* row = columns + c0 * channel;
    for (int64_t ky = 0; ky < plan.kernel_h; ++ky) {
      for (int64_t kx = 0; kx < plan.kernel_w; ++kx, row += p1 - p0) {
        const int64_t shift = kx * plan.dilation_w - plan.pad_w;
        const Range valid = valid_range(plan.out_w, plan.in_w, shift, plan.stride_w);
        for_each_run(
            plan, ky, y0, x0, p1 - p0, [&](int64_t offset, int64_t x, int64_t count, int64_t in_y) {
              const int64_t lo = std::min(std::max(valid.lo, x), x + count) - x;
              const int64_t hi = in_y < 0 ? lo : std::max(lo, std::min(valid.hi - x, count));
              const S* from = planes + in_y * plan.in_w + shift + (x + lo) * plan.stride_w;
              T* to = row + offset;
              for (int64_t c = 0; c < channels; ++c, to += channel, from += patches.in_plane) {
                clear_row(to, lo);
                if (lo < hi) take_row(to + lo, from, hi - lo, plan.stride_w);
                clear_row(to + hi, count - hi);
              }
            });
      }
    }
  }
}

/// The transpose of gather_columns: adds each column to the input patch it came from.
template <class T>
void scatter_columns(T* in, const T* columns, const Patches& patches, int64_t channels, int64_t p0,
                     int64_t p1) {
  const ConvPlan& plan = patches.plan;
  const int64_t y0 = p0 / plan.out_w, x0 = p0 - y0 * plan.out_w;
  const T* row = columns;
  for (int64_t c = 0; c < channels; ++c) {
    T* plane = in + c * patches.in_plane;
    for (int64_t ky = 0; ky < plan.kernel_h; ++ky) {
      for (int64_t kx = 0; kx < plan.kernel_w; ++kx, row += p1 - p0) {
        const int64_t shift = kx * plan.dilation_w - plan.pad_w;
        const Range valid = valid_range(plan.out_w, plan.in_w, shift, plan.stride_w);
        for_each_run(plan, ky, y0, x0, p1 - p0,
                     [&](int64_t offset, int64_t x, int64_t count, int64_t in_y) {
                       if (in_y < 0) return;
                       const int64_t lo = std::max(valid.lo, x), hi = std::min(valid.hi, x + count);
                       const T* from = row + offset - x;
                       T* to = plane + in_y * plan.in_w + shift;
                       if (plan.stride_w == 1) {
                         for (int64_t i = lo; i < hi; ++i) to[i] += from[i];
                       } else {
                         for (int64_t i = lo; i < hi; ++i) to[i * plan.stride_w] += from[i];
                       }
                     });
      }
    }
  }
}

/// Numbers in the computed type: where they stand, or widened into `memory`.
template <class T, class S>
const T* widened(const S* in, int64_t count, T* memory) {
  if constexpr (std::is_same_v<T, S>) {
    return in;
  } else {
    widen_row(memory, in, count);
    return memory;
  }
}

/// `rows` rows of `count` numbers, `stride` apart in `in`; dense in `memory` if they must be
/// widened.
template <class T, class S>
const T* widened_rows(const S* in, int64_t stride, int64_t rows, int64_t count, T* memory,
                      int64_t* result_stride) {
  if constexpr (std::is_same_v<T, S>) {
    *result_stride = stride;
    return in;
  } else {
    for (int64_t r = 0; r < rows; ++r) widen_row(memory + r * count, in + r * stride, count);
    *result_stride = count;
    return memory;
  }
}

}  // namespace

template <class S>
Status columns_forward(S* out, const S* in, const S* weight, const S* bias, bool relu,
                       const ConvPlan& plan, const Stream& stream) {
  using T = acc_t<S>;
  constexpr bool kWidens = !std::is_same_v<T, S>;
  const Patches patches{plan};
  const int64_t slice = patches.slice(sizeof(T));
  const int64_t slices = (patches.positions + slice - 1) / slice;
  const int64_t items = plan.batch * plan.groups * slices;
  if (items == 0 || plan.out_channels == 0) return {};
  const int64_t threads = std::min(items, threads_for(stream, conv_work(plan)));
  const bool in_place = !kWidens && patches.is_input();

  const int64_t weights = plan.out_channels * patches.rows;
  const int64_t columns_size = in_place ? 0 : round_up(patches.rows * slice, 16);
  const int64_t result_size = kWidens ? round_up(patches.out_channels * slice, 16) : 0;
  const int64_t workspace = gemm_workspace<T>(patches.out_channels, slice, patches.rows);
  const int64_t piece_size = round_up(columns_size + result_size + workspace, 16);
  const int64_t shared = kWidens ? round_up(weights + plan.out_channels, 16) : 0;
  const Scratch<T> memory(stream, shared + threads * piece_size);
  if (!memory.get()) return memory.failure();
  const T* w = widened(weight, weights, memory.get());
  const T* b = bias ? widened(bias, plan.out_channels, memory.get() + weights) : nullptr;

  for_pieces(stream, threads, items, [&](int64_t piece, int64_t begin, int64_t end) {
    T* columns = memory.get() + shared + piece * piece_size;
    T* result = columns + columns_size;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t p0 = item % slices * slice, p1 = std::min(p0 + slice, patches.positions);
      const int64_t block = item / slices, group = block % plan.groups;  // block = sample and group
      const S* from = in + block * patches.channels * patches.in_plane;
      S* to = out + block * patches.out_channels * patches.positions + p0;

      GemmProblem<T> g{};
      g.m = patches.out_channels, g.n = p1 - p0, g.k = patches.rows;
      g.a = w + group * patches.out_channels * patches.rows, g.a_row = patches.rows, g.a_col = 1;
      g.b_row = g.n, g.b_col = 1;
      if constexpr (!kWidens) {
        if (in_place) g.b = from + p0, g.b_row = patches.in_plane;
      }
      if (!in_place) {
        gather_columns(columns, from, patches, p0, p1);
        g.b = columns;
      }
      if constexpr (kWidens) {
        g.c = result, g.c_row = g.n;
      } else {
        g.c = to, g.c_row = patches.positions;
      }
      g.c_col = 1;
      g.row_bias = b ? b + group * patches.out_channels : nullptr;
      g.relu = relu;
      run_gemm(g, result + result_size);
      if constexpr (kWidens) {
        for (int64_t r = 0; r < g.m; ++r)
          narrow_row(to + r * patches.positions, result + r * g.n, g.n);
      }
    }
  });
  return {};
}

template <class S>
Status columns_backward_data(S* grad_in, const S* grad_out, const S* weight, const ConvPlan& plan,
                             const Stream& stream) {
  using T = acc_t<S>;
  constexpr bool kWidens = !std::is_same_v<T, S>;
  const Patches patches{plan};
  const int64_t blocks = plan.batch * plan.groups;
  if (blocks == 0 || patches.channels == 0 || patches.in_plane == 0) return {};
  int64_t threads = threads_for(stream, conv_work(plan));
  // Few samples: each is shared out by input channels, which never meet.
  const bool whole = threads == 1 || blocks % threads == 0 || blocks >= 8 * threads;
  const int64_t parts = whole ? 1 : std::min(threads, patches.channels);
  const int64_t items = blocks * parts;
  threads = std::min(threads, items);
  const bool in_place = !kWidens && patches.is_input();

  const int64_t slice = patches.slice(sizeof(T));
  const int64_t weights = plan.out_channels * patches.rows;
  const int64_t columns_size = in_place ? 0 : round_up(patches.rows * slice, 16);
  const int64_t grad_size = kWidens ? round_up(patches.out_channels * slice, 16) : 0;
  const int64_t result_size = kWidens ? round_up(patches.channels * patches.in_plane, 16) : 0;
  const int64_t workspace = gemm_workspace<T>(patches.rows, slice, patches.out_channels);
  const int64_t piece_size = round_up(columns_size + grad_size + result_size + workspace, 16);
  const int64_t shared = kWidens ? round_up(weights, 16) : 0;
  const Scratch<T> memory(stream, shared + threads * piece_size);
  if (!memory.get()) return memory.failure();
  const T* w = widened(weight, weights, memory.get());

  for_pieces(stream, threads, items, [&](int64_t piece, int64_t begin, int64_t end) {
    T* columns = memory.get() + shared + piece * piece_size;
    T* grad = columns + columns_size;
    T* result = grad + grad_size;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t block = item / parts, group = block % plan.groups, part = item % parts;
      const int64_t c0 = patches.channels * part / parts;
      const int64_t channels = patches.channels * (part + 1) / parts - c0;
      S* to = grad_in + (block * patches.channels + c0) * patches.in_plane;
      const S* from = grad_out + block * patches.out_channels * patches.positions;
      T* sum = result;
      if constexpr (!kWidens) sum = to;
      if (!in_place) std::fill(sum, sum + channels * patches.in_plane, T(0));

      for (int64_t p0 = 0; p0 < patches.positions; p0 += slice) {
        const int64_t p1 = std::min(p0 + slice, patches.positions);
        GemmProblem<T> g{};
        g.m = channels * patches.taps, g.n = p1 - p0, g.k = patches.out_channels;
        g.a = w + group * patches.out_channels * patches.rows + c0 * patches.taps;
        g.a_row = 1, g.a_col = patches.rows;
        g.b = widened_rows(from + p0, patches.positions, g.k, g.n, grad, &g.b_row);
        g.b_col = 1;
        g.c = in_place ? sum + p0 : columns;
        g.c_row = in_place ? patches.in_plane : g.n;
        g.c_col = 1;
        run_gemm(g, result + result_size);
        if (!in_place) scatter_columns(sum, columns, patches, channels, p0, p1);
      }
      if constexpr (kWidens) narrow_row(to, sum, channels * patches.in_plane);
    }
  });
  return {};
}

template <class S>
Status columns_backward_weight(S* grad_weight, S* grad_bias, const S* grad_out, const S* in,
                               const ConvPlan& plan, const Stream& stream) {
  using T = acc_t<S>;
  constexpr bool kWidens = !std::is_same_v<T, S>;
  const Patches patches{plan};
  const int64_t slice = patches.slice(sizeof(T));
  const int64_t slices = (patches.positions + slice - 1) / slice;
  const int64_t items = plan.batch * plan.groups * slices;
  const int64_t threads =
      std::max<int64_t>(1, std::min(items, threads_for(stream, conv_work(plan))));
  const bool in_place = !kWidens && patches.is_input();

  // Every piece sums gradients of its own; they are added up in order at the end.
  const int64_t weights = plan.out_channels * patches.rows;
  const int64_t sums_size = round_up(weights + plan.out_channels, 16);
  const int64_t columns_size = in_place ? 0 : round_up(patches.rows * slice, 16);
  const int64_t grad_size = kWidens ? round_up(patches.out_channels * slice, 16) : 0;
  const int64_t workspace = gemm_workspace<T>(patches.out_channels, patches.rows, slice);
  const int64_t piece_size = round_up(columns_size + grad_size + workspace, 16);
  const Scratch<T> memory(stream, threads * (sums_size + piece_size));
  if (!memory.get()) return memory.failure();
  T* sums = memory.get();
  std::fill(sums, sums + threads * sums_size, T(0));

  for_pieces(stream, threads, items, [&](int64_t piece, int64_t begin, int64_t end) {
    T* weight_sum = sums + piece * sums_size;
    T* bias_sum = weight_sum + weights;
    T* columns = sums + threads * sums_size + piece * piece_size;
    T* grad = columns + columns_size;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t p0 = item % slices * slice, p1 = std::min(p0 + slice, patches.positions);
      const int64_t block = item / slices, group = block % plan.groups;
      const int64_t first_out = group * patches.out_channels;
      const S* from = in + block * patches.channels * patches.in_plane;
      const S* gradient = grad_out + block * patches.out_channels * patches.positions + p0;

      GemmProblem<T> g{};
      g.m = patches.out_channels, g.n = patches.rows, g.k = p1 - p0;
      g.a = widened_rows(gradient, patches.positions, g.m, g.k, grad, &g.a_row);
      g.a_col = 1;
      g.b_row = 1, g.b_col = g.k;
      if constexpr (!kWidens) {
        if (in_place) g.b = from + p0, g.b_col = patches.in_plane;
      }
      if (!in_place) {
        gather_columns(columns, from, patches, p0, p1);
        g.b = columns;
      }
      g.c = weight_sum + first_out * patches.rows, g.c_row = patches.rows, g.c_col = 1;
      g.beta = 1;
      run_gemm(g, grad + grad_size);
      if (grad_bias) {
        for (int64_t r = 0; r < g.m; ++r) {
          bias_sum[first_out + r] += sum_row<T>(gradient + r * patches.positions, g.k);
        }
      }
    }
  });
  sum_parts(sums, sums_size, threads, weights + plan.out_channels, stream);
  narrow_row(grad_weight, sums, weights);
  if (grad_bias) narrow_row(grad_bias, sums + weights, plan.out_channels);
  return {};
}

#define TAPER_INSTANTIATE(S)                                                                     \
  template Status columns_forward(S*, const S*, const S*, const S*, bool, const ConvPlan&,       \
                                  const Stream&);                                                \
  template Status columns_backward_data(S*, const S*, const S*, const ConvPlan&, const Stream&); \
  template Status columns_backward_weight(S*, S*, const S*, const S*, const ConvPlan&,           \
                                          const Stream&);
TAPER_INSTANTIATE(float)
TAPER_INSTANTIATE(double)
TAPER_INSTANTIATE(Half)
TAPER_INSTANTIATE(BFloat16)
#undef TAPER_INSTANTIATE

TAPER_CPU_END
