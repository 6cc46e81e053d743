#pragma once

#include "taper/kernels/cpu/conv_plan.h"
#include "taper/kernels/cpu/gemm_tile.h"
#include "taper/kernels/cpu/gemm_transpose.h"
#include "taper/kernels/cpu/winograd_transform.h"

// What Winograd's forward and backward passes share. The image is cut into 2x2 tiles of output;
// rows of tiles are numbered through the whole batch and dealt to threads in strips. Within a strip
// data stands channels last, channels padded to whole vectors, in this order for the products:
//   transformed rows   [point][tile][channel]
//   transformed cols   [point][panel][depth][kPanel]   (what a tile kernel calls B)

TAPER_CPU_BEGIN
namespace winograd {

constexpr int64_t kPanel = kTileCols<float>;

/// One of the two images of a convolution: the one that is read or the one that is written.
struct Image {
  int64_t channels, height, width;
  int64_t padded() const { return round_up(channels, kLanes); }
  int64_t panels() const { return (channels + kPanel - 1) / kPanel; }
};

/// A 3x3 convolution with stride 1 as Winograd sees it: forward, or backward with the roles
/// exchanged.
struct Geometry {
  int64_t batch;
  Image in, out;
  int64_t pad_h, pad_w;  ///< may be negative in the backward pass
  int64_t tile_rows() const { return (out.height + 1) / 2; }
  int64_t tile_cols() const { return (out.width + 1) / 2; }
  int64_t all_rows() const { return batch * tile_rows(); }
  /// Tile rows per strip: transformed data of about 768 KB, but enough tiles that reading all
  /// weights once per strip is no more traffic than the tiles themselves.
  int64_t strip() const {
    const int64_t width = in.padded() + out.panels() * kPanel;
    const int64_t row = kPoints * tile_cols() * width * 4;
    const int64_t tiles = std::max<int64_t>(kTileRows, in.channels * out.channels / (2 * width));
    return std::max<int64_t>(std::max<int64_t>(1, (768 << 10) / row),
                             (tiles + tile_cols() - 1) / tile_cols());
  }
};

inline Geometry forward_geometry(const ConvPlan& p) {
  return {p.batch,
          {p.in_channels, p.in_h, p.in_w},
          {p.out_channels, p.out_h, p.out_w},
          p.pad_h,
          p.pad_w};
}
inline Geometry backward_geometry(const ConvPlan& p) {
  return {p.batch,
          {p.out_channels, p.out_h, p.out_w},
          {p.in_channels, p.in_h, p.in_w},
          2 - p.pad_h,
          2 - p.pad_w};
}

/// Reads `rows` rows from `y` on of one sample, channels last, `width` pixels from x on; 0 outside.
template <class S>
void load_rows(float* to, const S* sample, const Image& image, int64_t y, int64_t rows, int64_t x,
               int64_t width) {
  const int64_t padded = image.padded();
  const int64_t lo = std::min(std::max<int64_t>(-x, 0), width);
  const int64_t hi = std::max(lo, std::min(image.width - x, width));
  for (int64_t r = 0; r < rows; ++r, to += width * padded) {
    if (y + r < 0 || y + r >= image.height) {
      std::fill(to, to + width * padded, 0.f);
      continue;
    }
    std::fill(to, to + lo * padded, 0.f);
    transpose(to + lo * padded, padded, sample + (y + r) * image.width + x + lo,
              image.height * image.width, image.channels, hi - lo);
    std::fill(to + hi * padded, to + width * padded, 0.f);
  }
}

/// The padded input rows of a strip, four for each row of tiles, each strip ahead sharing two with
/// the last.
template <class S>
class InputRows {
 public:
  InputRows(float* memory, const S* in, const Geometry& geometry)
      : memory_(memory), in_(in), geometry_(geometry) {
    std::fill(memory, memory + size(geometry), 0.f);
  }
  static int64_t width(const Geometry& g) { return g.tile_cols() * 2 + 2; }
  static int64_t size(const Geometry& g) { return 4 * width(g) * g.in.padded(); }

  /// Brings tile row `index` (numbered through the batch); row(0..3) then are its input rows.
  void move_to(int64_t index) {
    const Geometry& g = geometry_;
    const int64_t sample = index / g.tile_rows(), tile_row = index % g.tile_rows();
    const S* from = in_ + sample * g.in.channels * g.in.height * g.in.width;
    const bool continues = index == last_ + 1 && tile_row != 0;
    first_ = continues ? first_ ^ 2 : 0;
    for (int64_t half = continues ? 2 : 0; half < 4; half += 2) {
      load_rows(slot(half), from, g.in, tile_row * 2 - g.pad_h + half, 2, -g.pad_w, width(g));
    }
    last_ = index;
  }
  const float* row(int64_t r) const { return slot(r); }

 private:
  float* slot(int64_t r) const {
    return memory_ + ((r ^ first_) & 3) * width(geometry_) * geometry_.in.padded();
  }

  float* memory_;
  const S* in_;
  const Geometry& geometry_;
  int64_t last_ = -2;
  int64_t first_ = 0;
};

/// Transforms the tiles of one row: transformed[point * point_stride + tile * padded + channel].
template <class S>
void transform_input(float* transformed, int64_t point_stride, const InputRows<S>& rows,
                     const Geometry& g) {
  const int64_t padded = g.in.padded();
  const float* from[4] = {rows.row(0), rows.row(1), rows.row(2), rows.row(3)};
  for (int64_t tile = 0; tile < g.tile_cols(); ++tile) {
    for (int64_t c = 0; c < padded; c += kLanes) {
      Raw d[kPoints];
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) {
          d[r * 4 + q] = Vec<float>::load(from[r] + (tile * 2 + q) * padded + c).raw;
        }
      }
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) input_axis(d + q, 4);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) input_axis(d + 4 * r, 1);
      float* to = transformed + tile * padded + c;
#pragma GCC unroll 16
      for (int e = 0; e < kPoints; ++e) Vec<float>(d[e]).store(to + e * point_stride);
    }
  }
}

}  // namespace winograd
TAPER_CPU_END
