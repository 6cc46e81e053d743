#include <algorithm>
#include <cmath>
#include <limits>

#include "taper/kernels/cpu/reduce_rows.h"

// softmax and log_softmax. The largest element is subtracted first, so that exp cannot overflow. A
// row of -inf alone gives NaN, as does one with NaN or +inf in it.

TAPER_CPU_BEGIN

namespace {

constexpr int64_t kStrip = 128;       // columns at a time along an axis that is not the last
constexpr int64_t kGrain = 8 * 1024;  // elements worth a thread
constexpr int64_t kKept = 4096;       // terms of a row of halves, kept as floats

/// exp(in - top) is kept until the sum is known: in `out` itself, or for halves, which would round
/// it, in a buffer where the row fits into one; else it is computed again.
template <class T>
void softmax_row(T* out, const T* in, int64_t size) {
  using V = packet_t<T>;
  using C = compute_t<T>;
  const C top = row_max(in, size);
  C kept[std::is_same_v<T, C> ? 1 : kKept];
  C* terms = kept;
  if constexpr (std::is_same_v<T, C>) terms = out;
  if (std::is_same_v<T, C> || size <= kKept) {
    const V scale(1 / row_sum_exp<true>(in, size, top, terms));
    for_packets<T>(size, [&](int64_t i, auto packet) {
      packet.store(out + i, packet.load_terms(terms + i) * scale);
    });
  } else {
    const V scale(1 / row_sum_exp<false>(in, size, top));
    for_packets<T>(size, [&](int64_t i, auto packet) {
      packet.store(out + i, exp(packet.load(in + i) - V(top)) * scale);
    });
  }
}

template <class T>
void log_softmax_row(T* out, const T* in, int64_t size) {
  using V = packet_t<T>;
  const compute_t<T> top = row_max(in, size);
  const compute_t<T> log_sum = std::log(row_sum_exp<false>(in, size, top));
  for_packets<T>(size, [&](int64_t i, auto packet) {
    packet.store(out + i, packet.load(in + i) - V(top) - V(log_sum));
  });
}

template <bool kLog, class T>
void softmax_strip(T* out, const T* in, int64_t size, int64_t inner, int64_t columns) {
  using V = packet_t<T>;
  using C = compute_t<T>;
  alignas(64) C top[kStrip], sum[kStrip];
  std::fill_n(top, kStrip, -std::numeric_limits<C>::infinity());
  std::fill_n(sum, kStrip, C(0));
  for (int64_t r = 0; r < size; ++r) {
    for_packets<T>(columns, [&](int64_t c, auto packet) {
      max(packet.load(in + r * inner + c), V::load(top + c)).store(top + c);
    });
  }
  // Sums of 64 rows are added up by themselves first, which keeps long ones accurate.
  for (int64_t start = 0; start < size; start += 64) {
    for_packets<T>(columns, [&](int64_t c, auto packet) {
      const V highest = V::load(top + c);
      V block(0);
      for (int64_t r = start; r < std::min(start + 64, size); ++r) {
        const V e = exp(packet.load(in + r * inner + c) - highest);
        block += e;
        if (std::is_same_v<T, C> && !kLog) packet.store(out + r * inner + c, e);
      }
      (V::load(sum + c) + block).store(sum + c);
    });
  }
  for (int64_t c = 0; c < columns; ++c) sum[c] = kLog ? std::log(sum[c]) : C(1) / sum[c];
  for (int64_t r = 0; r < size; ++r) {
    for_packets<T>(columns, [&](int64_t c, auto packet) {
      const int64_t at = r * inner + c;
      const V highest = V::load(top + c), last = V::load(sum + c);
      if constexpr (kLog) {
        packet.store(out + at, packet.load(in + at) - highest - last);
      } else if constexpr (std::is_same_v<T, C>) {
        packet.store(out + at, packet.load(out + at) * last);
      } else {
        packet.store(out + at, exp(packet.load(in + at) - highest) * last);
      }
    });
  }
}

template <bool kLog, class T>
void softmax_backward_row(T* grad_in, const T* grad_out, const T* out, int64_t size) {
  using V = packet_t<T>;
  const V total(row_sums<T, 1>(size, [&](int64_t i, auto packet, V* sums) {
    const V g = packet.load(grad_out + i);
    sums[0] += kLog ? g : g * packet.load(out + i);
  })[0]);
  for_packets<T>(size, [&](int64_t i, auto packet) {
    const V g = packet.load(grad_out + i), y = packet.load(out + i);
    packet.store(grad_in + i, kLog ? g - exp(y) * total : (g - total) * y);
  });
}

template <bool kLog, class T>
void softmax_backward_strip(T* grad_in, const T* grad_out, const T* out, int64_t size,
                            int64_t inner, int64_t columns) {
  using V = packet_t<T>;
  alignas(64) compute_t<T> sum[kStrip] = {};
  for (int64_t start = 0; start < size; start += 64) {
    for_packets<T>(columns, [&](int64_t c, auto packet) {
      V block(0);
      for (int64_t r = start; r < std::min(start + 64, size); ++r) {
        const V g = packet.load(grad_out + r * inner + c);
        block += kLog ? g : g * packet.load(out + r * inner + c);
      }
      (V::load(sum + c) + block).store(sum + c);
    });
  }
  for (int64_t r = 0; r < size; ++r) {
    for_packets<T>(columns, [&](int64_t c, auto packet) {
      const int64_t at = r * inner + c;
      const V g = packet.load(grad_out + at), y = packet.load(out + at), total = V::load(sum + c);
      packet.store(grad_in + at, kLog ? g - exp(y) * total : (g - total) * y);
    });
  }
}

/// Calls strip(offset, columns) for every row (columns = 1) or strip of columns.
template <class Strip>
void for_strips(const AxisPlan& axis, const Stream& stream, const Strip& strip) {
  if (axis.size == 0 || axis.inner == 0) return;
  const int64_t strips = (axis.inner + kStrip - 1) / kStrip;
  const int64_t work = axis.size * std::min(axis.inner, kStrip);
  parallel_for(stream, axis.outer * strips, std::max<int64_t>(1, kGrain / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t column = unit % strips * kStrip;
                   strip(unit / strips * axis.size * axis.inner + column,
                         std::min(kStrip, axis.inner - column));
                 }
               });
}

}  // namespace

Status softmax_forward(void* out, const void* in, const SoftmaxArgs& args, Stream stream) {
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    const AxisPlan& axis = args.axis;
    for_strips(axis, stream, [&](int64_t offset, int64_t columns) {
      T* to = static_cast<T*>(out) + offset;
      const T* from = static_cast<const T*>(in) + offset;
      if (axis.inner == 1) {
        args.log ? log_softmax_row(to, from, axis.size) : softmax_row(to, from, axis.size);
      } else {
        args.log ? softmax_strip<true>(to, from, axis.size, axis.inner, columns)
                 : softmax_strip<false>(to, from, axis.size, axis.inner, columns);
      }
    });
    return Status{};
  });
}

Status softmax_backward(void* grad_in, const void* grad_out, const void* out,
                        const SoftmaxArgs& args, Stream stream) {
  const auto run = [&](auto element, auto log) {
    using T = decltype(element);
    constexpr bool kLog = decltype(log)::value;
    for_strips(args.axis, stream, [&](int64_t offset, int64_t columns) {
      T* to = static_cast<T*>(grad_in) + offset;
      const T* grad = static_cast<const T*>(grad_out) + offset;
      const T* from = static_cast<const T*>(out) + offset;
      if (args.axis.inner > 1) {
        softmax_backward_strip<kLog>(to, grad, from, args.axis.size, args.axis.inner, columns);
      } else {
        softmax_backward_row<kLog>(to, grad, from, args.axis.size);
      }
    });
    return Status{};
  };
  return for_floating(args.dtype, [&](auto element) {
    return args.log ? run(element, std::true_type{}) : run(element, std::false_type{});
  });
}

TAPER_CPU_END
