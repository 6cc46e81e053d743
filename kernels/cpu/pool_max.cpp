#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "taper/kernels/cpu/gemm_blocked.h"
#include "taper/kernels/cpu/gemm_rows.h"

// Max-pooling. Windows are scanned in row-major order: the first of equals is chosen, NaN beats
// all. The 2x2 window with stride 2 has a vector path both ways; its rows are dense in pairs.

TAPER_CPU_BEGIN
namespace {

template <int kLanes>
struct PairTypes {
  typedef float Floats __attribute__((vector_size(kLanes * 4)));
  typedef int32_t Ints __attribute__((vector_size(kLanes * 4)));
  typedef uint8_t Bytes __attribute__((vector_size(kLanes)));
};

template <class V, class E>
TAPER_INLINE V load_as(const E* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class V, int... kLane>
TAPER_INLINE void split_pairs(V low, V high, V& even, V& odd,
                              std::integer_sequence<int, kLane...>) {
  even = __builtin_shufflevector(low, high, (2 * kLane)...);
  odd = __builtin_shufflevector(low, high, (2 * kLane + 1)...);
}
template <class V, int... kLane>
TAPER_INLINE void join_pairs(V even, V odd, V& low, V& high, std::integer_sequence<int, kLane...>) {
  constexpr int n = sizeof...(kLane);
  low = __builtin_shufflevector(even, odd, (kLane / 2 + (kLane % 2) * n)...);
  high = __builtin_shufflevector(even, odd, (n / 2 + kLane / 2 + (kLane % 2) * n)...);
}

/// `kLanes` windows from 2 * kLanes columns of two adjacent rows.
template <int kLanes>
TAPER_INLINE void max_of_pairs(float* out, uint8_t* index, const float* upper, const float* lower) {
  using Floats = typename PairTypes<kLanes>::Floats;
  using Ints = typename PairTypes<kLanes>::Ints;
  constexpr auto lanes = std::make_integer_sequence<int, kLanes>{};
  Floats x[4];
  split_pairs(load_as<Floats>(upper), load_as<Floats>(upper + kLanes), x[0], x[1], lanes);
  split_pairs(load_as<Floats>(lower), load_as<Floats>(lower + kLanes), x[2], x[3], lanes);
  Floats best = x[0];
  Ints place{};
#pragma GCC unroll 3
  for (int i = 1; i < 4; ++i) {
    const Ints better = (x[i] > best) | (x[i] != x[i]);
    best = better ? x[i] : best;
    place = better ? i - Ints{} : place;
  }
  std::memcpy(out, &best, sizeof best);
  if (index) {
    const auto bytes = __builtin_convertvector(place, typename PairTypes<kLanes>::Bytes);
    std::memcpy(index, &bytes, sizeof bytes);
  }
}

/// The reverse: each gradient goes to its place in the window, the other three become 0. With
/// kGate, only where `gate` is positive.
template <int kLanes, bool kGate>
TAPER_INLINE void spread_pairs(float* upper, float* lower, const float* grad, const uint8_t* index,
                               const float* gate) {
  using Floats = typename PairTypes<kLanes>::Floats;
  using Ints = typename PairTypes<kLanes>::Ints;
  constexpr auto lanes = std::make_integer_sequence<int, kLanes>{};
  const Floats zero{};
  Floats g = load_as<Floats>(grad);
  if (kGate) g = load_as<Floats>(gate) > zero ? g : zero;
  const Ints place =
      __builtin_convertvector(load_as<typename PairTypes<kLanes>::Bytes>(index), Ints);
  Floats x[4], low, high;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) x[i] = place == i - Ints{} ? g : zero;
  join_pairs(x[0], x[1], low, high, lanes);
  std::memcpy(upper, &low, sizeof low);
  std::memcpy(upper + kLanes, &high, sizeof high);
  join_pairs(x[2], x[3], low, high, lanes);
  std::memcpy(lower, &low, sizeof low);
  std::memcpy(lower + kLanes, &high, sizeof high);
}

/// Calls step(j) for blocks of `kLanes` that cover [0, count); the last one overlaps its neighbour.
template <int kLanes, class Step>
TAPER_INLINE void for_blocks(int64_t count, const Step& step) {
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes) step(j);
  if (j < count) step(count - kLanes);
}

// Eight lanes also where the level has sixteen: rows of 14 are two blocks of eight.
constexpr int kPairLanes = Vec<float>::kSize < 8 ? Vec<float>::kSize : 8;

bool is_pairwise(const PoolPlan& p) {
  return p.kernel_h == 2 && p.kernel_w == 2 && p.stride_h == 2 && p.stride_w == 2 && p.pad_h == 0 &&
         p.pad_w == 0 && p.dilation_h == 1 && p.dilation_w == 1 && 2 * p.out_h <= p.in_h &&
         2 * p.out_w <= p.in_w && p.out_w >= 4;
}

void pool_row_pair(float* out, uint8_t* index, const float* upper, const float* lower,
                   int64_t out_w) {
  const auto block = [&]<int kLanes>(std::integral_constant<int, kLanes>) {
    for_blocks<kLanes>(out_w, [&](int64_t j) {
      max_of_pairs<kLanes>(out + j, index ? index + j : nullptr, upper + 2 * j, lower + 2 * j);
    });
  };
  if (out_w >= kPairLanes) {
    block(std::integral_constant<int, kPairLanes>{});
  } else {
    block(std::integral_constant<int, 4>{});
  }
}

template <bool kGate>
void spread_row_pair(float* upper, float* lower, const float* grad, const uint8_t* index,
                     const float* gate, int64_t out_w) {
  const auto block = [&]<int kLanes>(std::integral_constant<int, kLanes>) {
    for_blocks<kLanes>(out_w, [&](int64_t j) {
      spread_pairs<kLanes, kGate>(upper + 2 * j, lower + 2 * j, grad + j, index + j,
                                  kGate ? gate + j : nullptr);
    });
  };
  if (out_w >= kPairLanes) {
    block(std::integral_constant<int, kPairLanes>{});
  } else {
    block(std::integral_constant<int, 4>{});
  }
}

/// Output rows whose input, widened to float, takes about 32 KB.
int64_t rows_per_block(const PoolPlan& p) {
  return std::min(p.out_h, std::max<int64_t>(1, (1 << 12) / p.in_w));
}

int64_t plane_grain(const PoolPlan& p) {
  const int64_t work = p.out_h * p.out_w * p.kernel_h * p.kernel_w + p.in_h * p.in_w;
  return (1 << 15) / std::max<int64_t>(1, work) + 1;
}

// Halves go through blocks of rows in float: widening is exact, and so is the way back for what was
// chosen.
template <class S>
Status pairwise_forward(S* out, uint8_t* index, const S* in, const PoolPlan& p,
                        const Stream& stream) {
  constexpr bool kWidens = !std::is_same_v<S, float>;
  const int64_t threads =
      std::max<int64_t>(1, std::min(p.planes, threads_for(stream, p.planes * p.in_h * p.in_w)));
  const int64_t block_rows = kWidens ? rows_per_block(p) : p.out_h;
  const int64_t in_size = round_up(block_rows * 2 * p.in_w, 16);
  const int64_t buffer = kWidens ? in_size + round_up(block_rows * p.out_w, 16) : 0;
  const Scratch<float> memory(stream, threads * buffer + 1);
  if (!memory.get()) return memory.failure();
  for_pieces(stream, threads, p.planes, [&](int64_t piece, int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      for (int64_t y0 = 0; y0 < p.out_h; y0 += block_rows) {
        const int64_t rows = std::min(block_rows, p.out_h - y0);
        const S* from = in + (plane * p.in_h + 2 * y0) * p.in_w;
        const int64_t i0 = (plane * p.out_h + y0) * p.out_w;
        const float* upper;
        float* result;
        if constexpr (kWidens) {
          float* wide = memory.get() + piece * buffer;
          widen_row(wide, from, rows * 2 * p.in_w);
          upper = wide, result = wide + in_size;
        } else {
          upper = from, result = out + i0;
        }
        for (int64_t y = 0; y < rows; ++y, upper += 2 * p.in_w) {
          pool_row_pair(result + y * p.out_w, index ? index + i0 + y * p.out_w : nullptr, upper,
                        upper + p.in_w, p.out_w);
        }
        if constexpr (kWidens) narrow_row(out + i0, result, rows * p.out_w);
      }
    }
  });
  return {};
}

template <class S>
Status general_forward(S* out, uint8_t* window_index, int64_t* flat_index, const S* in,
                       const PoolPlan& p, const Stream& stream) {
  using T = std::conditional_t<std::is_integral_v<S>, S, acc_t<S>>;
  const T lowest = std::is_integral_v<S> ? std::numeric_limits<T>::lowest()
                                         : -std::numeric_limits<T>::infinity();
  parallel_for(stream, p.planes, plane_grain(p), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * p.out_h; row < end * p.out_h; ++row) {
      const S* plane = in + row / p.out_h * p.in_h * p.in_w;
      const int64_t y0 = row % p.out_h * p.stride_h - p.pad_h;
      // The first kernel row and column inside the input, and one past the last.
      const int64_t ky0 = y0 < 0 ? (-y0 + p.dilation_h - 1) / p.dilation_h : 0;
      const int64_t ky1 = std::min(p.kernel_h, (p.in_h - y0 + p.dilation_h - 1) / p.dilation_h);
      for (int64_t x = 0; x < p.out_w; ++x) {
        const int64_t x0 = x * p.stride_w - p.pad_w;
        const int64_t kx0 = x0 < 0 ? (-x0 + p.dilation_w - 1) / p.dilation_w : 0;
        const int64_t kx1 = std::min(p.kernel_w, (p.in_w - x0 + p.dilation_w - 1) / p.dilation_w);
        T best = lowest;
        int64_t best_y = ky0, best_x = kx0;
        for (int64_t ky = ky0; ky < ky1; ++ky) {
          const S* from = plane + (y0 + ky * p.dilation_h) * p.in_w + x0;
          for (int64_t kx = kx0; kx < kx1; ++kx) {
            const T value = static_cast<T>(from[kx * p.dilation_w]);
            if (value > best || value != value) best = value, best_y = ky, best_x = kx;
          }
        }
        const int64_t i = row * p.out_w + x;
        out[i] = static_cast<S>(best);
        if (window_index) window_index[i] = static_cast<uint8_t>(best_y * p.kernel_w + best_x);
        if (flat_index) {
          flat_index[i] = (y0 + best_y * p.dilation_h) * p.in_w + x0 + best_x * p.dilation_w;
        }
      }
    }
  });
  return {};
}

template <bool kGate, class S>
Status pairwise_backward(S* grad_in, const S* grad_out, const uint8_t* index, const S* gate,
                         const PoolPlan& p, const Stream& stream) {
  constexpr bool kWidens = !std::is_same_v<S, float>;
  const int64_t threads =
      std::max<int64_t>(1, std::min(p.planes, threads_for(stream, p.planes * p.in_h * p.in_w)));
  const int64_t block_rows = kWidens ? rows_per_block(p) : p.out_h;
  const int64_t in_size = round_up(block_rows * 2 * p.in_w, 16);
  const int64_t out_size = round_up(block_rows * p.out_w, 16);
  const int64_t buffer = kWidens ? in_size + 2 * out_size : 0;
  const Scratch<float> memory(stream, threads * buffer + 1);
  if (!memory.get()) return memory.failure();
  for_pieces(stream, threads, p.planes, [&](int64_t piece, int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      S* to = grad_in + plane * p.in_h * p.in_w;
      for (int64_t y0 = 0; y0 < p.out_h; y0 += block_rows) {
        const int64_t rows = std::min(block_rows, p.out_h - y0);
        const int64_t i0 = (plane * p.out_h + y0) * p.out_w;
        float* upper;
        const float* grad;
        const float* open = nullptr;
        if constexpr (kWidens) {
          upper = memory.get() + piece * buffer;
          widen_row(upper + in_size, grad_out + i0, rows * p.out_w);
          grad = upper + in_size;
          if (kGate) {
            widen_row(upper + in_size + out_size, gate + i0, rows * p.out_w);
            open = grad + out_size;
          }
        } else {
          upper = to + 2 * y0 * p.in_w;
          grad = grad_out + i0;
          if (kGate) open = gate + i0;
        }
        float* block = upper;
        for (int64_t y = 0; y < rows; ++y, upper += 2 * p.in_w) {
          float* lower = upper + p.in_w;
          const int64_t i = y * p.out_w;
          spread_row_pair<kGate>(upper, lower, grad + i, index + i0 + i, kGate ? open + i : nullptr,
                                 p.out_w);
          for (int64_t x = 2 * p.out_w; x < p.in_w; ++x) upper[x] = lower[x] = 0;
        }
        if constexpr (kWidens) narrow_row(to + 2 * y0 * p.in_w, block, rows * 2 * p.in_w);
      }
      std::fill(to + 2 * p.out_h * p.in_w, to + p.in_h * p.in_w, S(0.f));
    }
  });
  return {};
}

template <class S>
Status general_backward(S* grad_in, const S* grad_out, const uint8_t* window_index,
                        const int64_t* flat_index, const S* gate, const PoolPlan& p,
                        const Stream& stream) {
  using T = acc_t<S>;
  constexpr bool kWidens = !std::is_same_v<T, S>;
  const int64_t in_plane = p.in_h * p.in_w, out_plane = p.out_h * p.out_w;
  const int64_t threads =
      std::max<int64_t>(1, std::min(p.planes, threads_for(stream, p.planes * in_plane)));
  const Scratch<T> memory(stream, kWidens ? threads * in_plane + 1 : 1);
  if (!memory.get()) return memory.failure();
  for_pieces(stream, threads, p.planes, [&](int64_t piece, int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      T* sum = memory.get() + piece * in_plane;
      if constexpr (!kWidens) sum = grad_in + plane * in_plane;
      std::fill(sum, sum + in_plane, T(0));
      for (int64_t y = 0; y < p.out_h; ++y) {
        for (int64_t x = 0; x < p.out_w; ++x) {
          const int64_t i = plane * out_plane + y * p.out_w + x;
          if (gate && !(static_cast<T>(gate[i]) > T(0))) continue;
          int64_t place;
          if (window_index) {
            const int64_t ky = window_index[i] / p.kernel_w, kx = window_index[i] % p.kernel_w;
            place = (y * p.stride_h - p.pad_h + ky * p.dilation_h) * p.in_w + x * p.stride_w -
                    p.pad_w + kx * p.dilation_w;
          } else {
            place = flat_index[i];
          }
          sum[place] += static_cast<T>(grad_out[i]);
        }
      }
      if constexpr (kWidens) narrow_row(grad_in + plane * in_plane, sum, in_plane);
    }
  });
  return {};
}

}  // namespace

Status max_pool_forward(void* out, uint8_t* window_index, int64_t* flat_index, const void* in,
                        const PoolPlan& plan, Stream stream) {
  return for_number(plan.dtype, [&](auto type) -> Status {
    using S = decltype(type);
    S* to = static_cast<S*>(out);
    const S* from = static_cast<const S*>(in);
    if constexpr (std::is_same_v<acc_t<S>, float>) {
      if (is_pairwise(plan) && !flat_index) {
        return pairwise_forward(to, window_index, from, plan, stream);
      }
    }
    return general_forward(to, window_index, flat_index, from, plan, stream);
  });
}

Status max_pool_backward(void* grad_in, const void* grad_out, const uint8_t* window_index,
                         const int64_t* flat_index, const void* relu_of, const PoolPlan& plan,
                         Stream stream) {
  return for_floating(plan.dtype, [&](auto type) -> Status {
    using S = decltype(type);
    S* to = static_cast<S*>(grad_in);
    const S* from = static_cast<const S*>(grad_out);
    const S* gate = static_cast<const S*>(relu_of);
    if constexpr (!std::is_same_v<S, double>) {
      if (is_pairwise(plan) && window_index) {
        return gate ? pairwise_backward<true>(to, from, window_index, gate, plan, stream)
                    : pairwise_backward<false>(to, from, window_index, gate, plan, stream);
      }
    }
    return general_backward(to, from, window_index, flat_index, gate, plan, stream);
  });
}

TAPER_CPU_END
