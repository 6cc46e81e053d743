#include "taper/kernels/cpu/winograd.h"

#include <algorithm>
#include <type_traits>

// Forward, and backward to the input, which is the same convolution with the kernel turned by 180
// degrees.

TAPER_CPU_BEGIN
namespace winograd {
namespace {

/// Where weight (out channel o, in channel i, tap t) stands; `flip` reads the taps backwards.
struct WeightLayout {
  int64_t out_stride, in_stride;
  bool flip;
};

int64_t weights_size(const Geometry& g) {
  return kPoints * g.out.panels() * g.in.channels * kPanel;
}

/// transformed[point][panel][in channel][kPanel], lanes being output channels; `taps` holds 9 rows
/// of them.
template <class S>
void transform_weights(float* transformed, float* taps, const S* weight, const WeightLayout& layout,
                       const Geometry& g, int64_t begin, int64_t end) {
  const int64_t width = g.out.panels() * kPanel, depth = g.in.channels;
  const int64_t point_stride = g.out.panels() * depth * kPanel;
  std::fill(taps, taps + 9 * width, 0.f);
  for (int64_t i = begin; i < end; ++i) {
    transpose(taps, width, weight + i * layout.in_stride, layout.out_stride, g.out.channels, 9);
    for (int64_t o = 0; o < width; o += kLanes) {
      Raw w[kPoints];
#pragma GCC unroll 9
      for (int t = 0; t < 9; ++t) {
        w[t / 3 * 4 + t % 3] = Vec<float>::load(taps + (layout.flip ? 8 - t : t) * width + o).raw;
      }
#pragma GCC unroll 3
      for (int q = 0; q < 3; ++q) weight_axis(w + q, 4);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) weight_axis(w + 4 * r, 1);
      float* to = transformed + (o / kPanel * depth + i) * kPanel + o % kPanel;
#pragma GCC unroll 16
      for (int e = 0; e < kPoints; ++e) Vec<float>(w[e]).store(to + e * point_stride);
    }
  }
}

/// products[point][tile][channel] = transformed input times transformed weights, for `tiles` tiles.
void multiply(float* products, const float* input, const float* weights, int64_t tiles,
              const Geometry& g) {
  const int64_t depth = g.in.channels, in_width = g.in.padded(), out_width = g.out.padded();
  const int64_t blocks = (tiles + kTileRows - 1) / kTileRows;
  for (int64_t e = 0; e < kPoints; ++e) {
    for (int64_t o = 0; o < out_width; o += kPanel) {
      const int vectors = out_width - o > kLanes ? 2 : 1;
      const float* b = weights + (e * g.out.panels() * kPanel + o) * depth;
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t t0 = tiles * block / blocks, t1 = tiles * (block + 1) / blocks;
        tile_kernel<float>(static_cast<int>(t1 - t0), vectors, false)(
            depth, input + (e * tiles + t0) * in_width, in_width, b, kPanel,
            products + (e * tiles + t0) * out_width + o, out_width, false);
      }
    }
  }
}

/// Transforms one row of tiles back to two rows of pixels, channels last: rows[2][2 *
/// tile_cols][channel]. Whether any is NaN.
bool transform_output(float* rows, const float* products, int64_t point_stride, const float* bias,
                      bool relu, const Geometry& g) {
  const int64_t width = g.out.padded(), row = g.tile_cols() * 2 * width;
  Mask<float> nan{};
  for (int64_t tile = 0; tile < g.tile_cols(); ++tile) {
    for (int64_t c = 0; c < width; c += kLanes) {
      Raw m[kPoints];
#pragma GCC unroll 16
      for (int e = 0; e < kPoints; ++e) {
        m[e] = Vec<float>::load(products + e * point_stride + tile * width + c).raw;
      }
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) output_axis(m + q, 4);
#pragma GCC unroll 2
      for (int r = 0; r < 2; ++r) output_axis(m + 4 * r, 1);
      const Raw shift = bias ? Vec<float>::load(bias + c).raw : Raw{};
#pragma GCC unroll 2
      for (int r = 0; r < 2; ++r) {
#pragma GCC unroll 2
        for (int q = 0; q < 2; ++q) {
          Vec<float> y = m[r * 4 + q] + shift;
          nan = nan | isnan(y);
          if (relu) y = select(y < Vec<float>(0.f), Vec<float>(0.f), y);
          y.store(rows + r * row + (tile * 2 + q) * width + c);
        }
      }
    }
  }
  return any(nan);
}

/// Puts pixel rows back to channels first; `flat` is scratch for one row of halves.
template <class S>
void store_rows(S* sample, const float* rows, float* flat, int64_t y, const Geometry& g) {
  const int64_t width = g.out.padded(), plane = g.out.height * g.out.width;
  const int64_t count = std::min<int64_t>(2, g.out.height - y);
  const bool adjacent = g.tile_cols() * 2 == g.out.width;
  const int64_t pixels = adjacent ? count * g.out.width : g.out.width;
  for (int64_t r = 0; r < (adjacent ? 1 : count); ++r) {
    const float* from = rows + r * g.tile_cols() * 2 * width;
    S* to = sample + (y + r) * g.out.width;
    if constexpr (std::is_same_v<S, float>) {
      transpose(to, plane, from, width, pixels, g.out.channels);
    } else {
      transpose(flat, pixels, from, width, pixels, g.out.channels);
      for (int64_t c = 0; c < g.out.channels; ++c)
        narrow_row(to + c * plane, flat + c * pixels, pixels);
    }
  }
}

template <class S>
Status convolve(S* out, const S* in, const S* weight, const WeightLayout& layout, const S* bias,
                bool relu, bool* nan, const Geometry& g, int64_t work, const Stream& stream) {
  const int64_t strip = g.strip();
  const int64_t threads =
      std::max<int64_t>(1, std::min(g.all_rows(), threads_for(stream, work / 2)));
  const int64_t strip_tiles = strip * g.tile_cols();
  const int64_t out_width = g.out.padded();
  const int64_t taps_size = 9 * g.out.panels() * kPanel;
  const int64_t input_size = kPoints * strip_tiles * g.in.padded();
  const int64_t product_size = kPoints * strip_tiles * out_width;
  const int64_t rows_size = g.tile_cols() * 4 * out_width;
  const int64_t piece_size =
      std::max(taps_size, InputRows<S>::size(g) + input_size + product_size + 2 * rows_size);
  const int64_t shared = weights_size(g) + out_width;
  const Scratch<float> memory(stream, shared + threads * piece_size);
  if (!memory.get()) return memory.failure();
  float* weights = memory.get();
  float* shift = weights + weights_size(g);

  for_pieces(stream, threads, g.in.channels, [&](int64_t piece, int64_t begin, int64_t end) {
    transform_weights(weights, memory.get() + shared + piece * piece_size, weight, layout, g, begin,
                      end);
  });
  if (bias) {
    std::fill(shift, shift + out_width, 0.f);
    widen_row(shift, bias, g.out.channels);
  }
  for_pieces(stream, threads, g.all_rows(), [&](int64_t piece, int64_t begin, int64_t end) {
    float* input_memory = memory.get() + shared + piece * piece_size;
    float* input = input_memory + InputRows<S>::size(g);
    float* products = input + input_size;
    float* pixels = products + product_size;
    InputRows<S> rows(input_memory, in, g);
    for (int64_t row0 = begin; row0 < end; row0 += strip) {
      const int64_t row1 = std::min(row0 + strip, end);
      const int64_t tiles = (row1 - row0) * g.tile_cols();
      for (int64_t row = row0; row < row1; ++row) {
        rows.move_to(row);
        transform_input(input + (row - row0) * g.tile_cols() * g.in.padded(), tiles * g.in.padded(),
                        rows, g);
      }
      multiply(products, input, weights, tiles, g);
      for (int64_t row = row0; row < row1; ++row) {
        if (transform_output(pixels, products + (row - row0) * g.tile_cols() * out_width,
                             tiles * out_width, bias ? shift : nullptr, relu, g)) {
          __atomic_store_n(nan, true, __ATOMIC_RELAXED);
        }
        S* sample = out + row / g.tile_rows() * g.out.channels * g.out.height * g.out.width;
        store_rows(sample, pixels, pixels + rows_size, row % g.tile_rows() * 2, g);
      }
    }
  });
  return {};
}

}  // namespace
}  // namespace winograd

template <class S>
Status winograd_forward(S* out, const S* in, const S* weight, const S* bias, bool relu, bool* nan,
                        const ConvPlan& plan, const Stream& stream) {
  const winograd::WeightLayout layout{plan.in_channels * 9, 9, false};
  return winograd::convolve(out, in, weight, layout, bias, relu, nan,
                            winograd::forward_geometry(plan), conv_work(plan), stream);
}

template <class S>
Status winograd_backward_data(S* grad_in, const S* grad_out, const S* weight, bool* nan,
                              const ConvPlan& plan, const Stream& stream) {
  const winograd::WeightLayout layout{9, plan.in_channels * 9, true};
  return winograd::convolve(grad_in, grad_out, weight, layout, static_cast<const S*>(nullptr),
                            false, nan, winograd::backward_geometry(plan), conv_work(plan), stream);
}

#define TAPER_INSTANTIATE(S)                                                                       \
  template Status winograd_forward(S*, const S*, const S*, const S*, bool, bool*, const ConvPlan&, \
                                   const Stream&);                                                 \
  template Status winograd_backward_data(S*, const S*, const S*, bool*, const ConvPlan&,           \
                                         const Stream&);
TAPER_INSTANTIATE(float)
TAPER_INSTANTIATE(Half)
TAPER_INSTANTIATE(BFloat16)
#undef TAPER_INSTANTIATE

TAPER_CPU_END
