#include <algorithm>

#include "taper/kernels/cpu/winograd.h"

// Backward to the weights: products of transformed input and transformed gradient are summed over
// all tiles, per thread, and only the sums are transformed back.

TAPER_CPU_BEGIN
namespace winograd {
namespace {

/// Transforms one row of tiles of the gradient to [point][panel][tile][kPanel] and adds the
/// gradient to bias_sum, lane by lane. `rows` are two rows of pixels, channels last, `width`
/// channels wide.
void transform_gradient(float* transformed, int64_t tiles, int64_t first_tile, float* bias_sum,
                        const float* rows, const Geometry& g) {
  const int64_t width = g.out.padded(), row = g.tile_cols() * 2 * width;
  const int64_t point_stride = g.out.panels() * tiles * kPanel;
  for (int64_t c = 0; c < width; c += kLanes) {
    Raw sum = Vec<float>::load(bias_sum + c).raw;
    float* to = transformed + (c / kPanel * tiles + first_tile) * kPanel + c % kPanel;
    const float* from = rows + c;
    for (int64_t tile = 0; tile < g.tile_cols(); ++tile, to += kPanel, from += 2 * width) {
      Raw y[kPoints];
      y[0] = Vec<float>::load(from).raw;
      y[1] = Vec<float>::load(from + width).raw;
      y[4] = Vec<float>::load(from + row).raw;
      y[5] = Vec<float>::load(from + row + width).raw;
      sum += (y[0] + y[1]) + (y[4] + y[5]);
      gradient_axis(y, 4);
      gradient_axis(y + 1, 4);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) gradient_axis(y + 4 * r, 1);
#pragma GCC unroll 16
      for (int e = 0; e < kPoints; ++e) Vec<float>(y[e]).store(to + e * point_stride);
    }
    Vec<float>(sum).store(bias_sum + c);
  }
}

/// sums[point][in channel][out channel] += input^T * gradient over `tiles` tiles.
void accumulate(float* sums, const float* input, const float* gradient, int64_t tiles,
                const Geometry& g) {
  const int64_t in_width = g.in.padded(), out_width = g.out.padded();
  const int64_t blocks = (g.in.channels + kTileRows - 1) / kTileRows;
  for (int64_t e = 0; e < kPoints; ++e) {
    for (int64_t o = 0; o < out_width; o += kPanel) {
      const int vectors = out_width - o > kLanes ? 2 : 1;
      const float* b = gradient + (e * g.out.panels() * kPanel + o) * tiles;
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t i0 = g.in.channels * block / blocks;
        const int64_t i1 = g.in.channels * (block + 1) / blocks;
        tile_kernel<float>(static_cast<int>(i1 - i0), vectors, true)(
            tiles, input + e * tiles * in_width + i0, in_width, b, kPanel,
            sums + (e * g.in.channels + i0) * out_width + o, out_width, true);
      }
    }
  }
}

/// The gradient of all weights of input channels [begin, end); `taps` holds 9 rows of output
/// channels. Whether any is NaN.
template <class S>
bool transform_sums(S* grad_weight, float* taps, float* flat, const float* sums, const Geometry& g,
                    int64_t begin, int64_t end) {
  const int64_t width = g.out.padded();
  Mask<float> nan{};
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t o = 0; o < width; o += kLanes) {
      Raw s[kPoints];
#pragma GCC unroll 16
      for (int e = 0; e < kPoints; ++e) {
        s[e] = Vec<float>::load(sums + (e * g.in.channels + i) * width + o).raw;
      }
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) weight_gradient_axis(s + q, 4);
#pragma GCC unroll 3
      for (int r = 0; r < 3; ++r) weight_gradient_axis(s + 4 * r, 1);
#pragma GCC unroll 9
      for (int t = 0; t < 9; ++t) {
        const Vec<float> tap = s[t / 3 * 4 + t % 3];
        nan = nan | isnan(tap);
        tap.store(taps + t * width + o);
      }
    }
    S* to = grad_weight + i * 9;
    if constexpr (std::is_same_v<S, float>) {
      transpose(to, g.in.channels * 9, taps, width, 9, g.out.channels);
    } else {
      transpose(flat, 9, taps, width, 9, g.out.channels);
      for (int64_t o = 0; o < g.out.channels; ++o) {
        narrow_row(to + o * g.in.channels * 9, flat + o * 9, 9);
      }
    }
  }
  return any(nan);
}

}  // namespace
}  // namespace winograd

template <class S>
Status winograd_backward_weight(S* grad_weight, S* grad_bias, const S* grad_out, const S* in,
                                bool* nan, const ConvPlan& plan, const Stream& stream) {
  using namespace winograd;
  const Geometry g = forward_geometry(plan);
  const int64_t strip = g.strip();
  const int64_t threads =
      std::max<int64_t>(1, std::min(g.all_rows(), threads_for(stream, conv_work(plan) / 2)));
  const int64_t strip_tiles = strip * g.tile_cols();
  const int64_t out_width = g.out.padded();
  const int64_t sums_size = kPoints * g.in.channels * out_width + out_width;
  const int64_t input_size = kPoints * strip_tiles * g.in.padded();
  const int64_t gradient_size = kPoints * strip_tiles * g.out.panels() * kPanel;
  const int64_t rows_size = g.tile_cols() * 4 * out_width;
  const int64_t piece_size =
      std::max(18 * out_width, InputRows<S>::size(g) + input_size + gradient_size + rows_size);
  const Scratch<float> memory(stream, threads * (sums_size + piece_size));
  if (!memory.get()) return memory.failure();
  float* sums = memory.get();
  float* pieces = sums + threads * sums_size;
  std::fill(sums, pieces, 0.f);

  for_pieces(stream, threads, g.all_rows(), [&](int64_t piece, int64_t begin, int64_t end) {
    float* sum = sums + piece * sums_size;
    float* bias_sum = sum + kPoints * g.in.channels * out_width;
    float* input_memory = pieces + piece * piece_size;
    float* input = input_memory + InputRows<S>::size(g);
    float* gradient = input + input_size;
    float* pixels = gradient + gradient_size;
    std::fill(pixels, pixels + rows_size, 0.f);  // the lanes beyond the channels stay 0
    InputRows<S> rows(input_memory, in, g);
    for (int64_t row0 = begin; row0 < end; row0 += strip) {
      const int64_t row1 = std::min(row0 + strip, end);
      const int64_t tiles = (row1 - row0) * g.tile_cols();
      for (int64_t row = row0; row < row1; ++row) {
        const int64_t first_tile = (row - row0) * g.tile_cols();
        rows.move_to(row);
        transform_input(input + first_tile * g.in.padded(), tiles * g.in.padded(), rows, g);
        const S* sample =
            grad_out + row / g.tile_rows() * g.out.channels * g.out.height * g.out.width;
        load_rows(pixels, sample, g.out, row % g.tile_rows() * 2, 2, 0, g.tile_cols() * 2);
        transform_gradient(gradient, tiles, first_tile, bias_sum, pixels, g);
      }
      accumulate(sum, input, gradient, tiles, g);
    }
  });

  sum_parts(sums, sums_size, threads, sums_size, stream);
  for_pieces(stream, threads, g.in.channels, [&](int64_t piece, int64_t begin, int64_t end) {
    float* taps = pieces + piece * piece_size;
    if (transform_sums(grad_weight, taps, taps + 9 * out_width, sums, g, begin, end)) {
      __atomic_store_n(nan, true, __ATOMIC_RELAXED);
    }
  });
  if (grad_bias) {
    narrow_row(grad_bias, sums + kPoints * g.in.channels * out_width, g.out.channels);
  }
  return {};
}

#define TAPER_INSTANTIATE(S)                                                                   \
  template Status winograd_backward_weight(S*, S*, const S*, const S*, bool*, const ConvPlan&, \
                                           const Stream&);
TAPER_INSTANTIATE(float)
TAPER_INSTANTIATE(Half)
TAPER_INSTANTIATE(BFloat16)
#undef TAPER_INSTANTIATE

TAPER_CPU_END
