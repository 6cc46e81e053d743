#pragma once

#include "taper/kernels/cuda/device/product.cuh"
#include "taper/kernels/cuda/device/walk.cuh"

// Convolution as a product of matrices that are nowhere in memory: the sources of product.cuh that
// find, for a line and a depth, the number that the definition wants. A `tap` is a place in the
// kernel, a `position` one in an output plane. Per group:
//               C                          A: WeightRows         B (a sample's positions side by
//               side)
//   forward     [out channel][position]    [.][channel, tap]     Patches       [channel, tap][.]
//   data        [channel][pixel]           [.][out ch., tap]     GradPatches   [out ch., tap][.]
//   weight      [out channel][channel, tap]   GradRows [.][position]   PatchRows [position][.]

namespace taper::kernels::cuda {

/// A ConvPlan in 32 bits; channels are those of a group.
struct ConvShape {
  int channels, out_channels, groups;
  int in_h, in_w, out_h, out_w;
  int in_plane, positions, taps;
  int kernel_w;
  int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  Divider by_taps, by_kernel_w, by_positions, by_out_w, by_in_plane, by_in_w, by_stride_h,
      by_stride_w;
};

/// n = quotient * divisor + rest.
struct Quotient {
  int quotient, rest;
};
__device__ __forceinline__ Quotient divide(int n, const Divider& by) {
  const int quotient = static_cast<int>(by.quotient(static_cast<uint32_t>(n)));
  return {quotient, n - quotient * static_cast<int>(by.divisor)};
}

__device__ __forceinline__ bool is_inside(int i, int size) {
  return static_cast<unsigned>(i) < static_cast<unsigned>(size);
}

/// A row that no tap brings back into the image.
constexpr int kNowhere = -(1 << 30);

/// Input patches, a column for each output position of all samples.
template <class T>
struct Patches {
  using Element = T;
  static constexpr bool kDeep = false, kAsync = false;
  static constexpr int kPack = 1;

  const T* in;
  ConvShape shape;
  int lines;

  struct Line {
    const T* at;  ///< the sample's first channel of this group
    int y, x;     ///< what the first tap sees
  };
  __device__ __forceinline__ Line line(int index, int group) const {
    if (index >= lines) return {in, kNowhere, 0};
    const Quotient sample = divide(index, shape.by_positions);
    const Quotient place = divide(sample.rest, shape.by_out_w);
    const int64_t first = (int64_t{sample.quotient} * shape.groups + group) * shape.channels;
    return {in + first * shape.in_plane, place.quotient * shape.stride_h - shape.pad_h,
            place.rest * shape.stride_w - shape.pad_w};
  }
  __device__ __forceinline__ void fetch(T (&to)[1], const Line& line, int depth, int end) const {
    const Quotient channel = divide(depth, shape.by_taps);
    const Quotient tap = divide(channel.rest, shape.by_kernel_w);
    const int y = line.y + tap.quotient * shape.dilation_h;
    const int x = line.x + tap.rest * shape.dilation_w;
    const bool there = depth < end && is_inside(y, shape.in_h) && is_inside(x, shape.in_w);
    to[0] = there ? line.at[channel.quotient * shape.in_plane + y * shape.in_w + x] : T{};
  }
};

/// Gradients of the output, a column for each input pixel of all samples.
template <class T>
struct GradPatches {
  using Element = T;
  static constexpr bool kDeep = false, kAsync = false;
  static constexpr int kPack = 1;

  const T* grad;
  ConvShape shape;
  int lines;

  struct Line {
    const T* at;
    int y, x;  ///< the pixel, in the padded image
  };
  __device__ __forceinline__ Line line(int index, int group) const {
    if (index >= lines) return {grad, kNowhere, 0};
    const Quotient sample = divide(index, shape.by_in_plane);
    const Quotient place = divide(sample.rest, shape.by_in_w);
    const int64_t first = (int64_t{sample.quotient} * shape.groups + group) * shape.out_channels;
    return {grad + first * shape.positions, place.quotient + shape.pad_h, place.rest + shape.pad_w};
  }
  __device__ __forceinline__ void fetch(T (&to)[1], const Line& line, int depth, int end) const {
    const Quotient channel = divide(depth, shape.by_taps);
    const Quotient tap = divide(channel.rest, shape.by_kernel_w);
    const int y = line.y - tap.quotient * shape.dilation_h;
    const int x = line.x - tap.rest * shape.dilation_w;
    to[0] = T{};
    if (depth >= end || y < 0 || x < 0) return;
    const Quotient row = divide(y, shape.by_stride_h), col = divide(x, shape.by_stride_w);
    if (row.rest != 0 || col.rest != 0) return;  // a position between the window's steps
    if (row.quotient >= shape.out_h || col.quotient >= shape.out_w) return;
    to[0] = line.at[channel.quotient * shape.positions + row.quotient * shape.out_w + col.quotient];
  }
};

/// The weights by input channel: [channel][out channel, tap].
template <class T>
struct TurnedWeights {
  using Element = T;
  static constexpr bool kDeep = true, kAsync = false;
  static constexpr int kPack = 1;

  const T* weight;
  ConvShape shape;

  struct Line {
    const T* at;  ///< null outside
  };
  __device__ __forceinline__ Line line(int index, int group) const {
    if (index >= shape.channels) return {nullptr};
    const int first = group * shape.out_channels * shape.channels + index;
    return {weight + int64_t{first} * shape.taps};
  }
  __device__ __forceinline__ void fetch(T (&to)[1], const Line& line, int depth, int end) const {
    const Quotient channel = divide(depth, shape.by_taps);
    const int offset = channel.quotient * shape.channels * shape.taps + channel.rest;
    to[0] = line.at && depth < end ? line.at[offset] : T{};
  }
};

/// Gradients of the output: a row for each output channel, over the positions of all samples.
template <class T>
struct GradRows {
  using Element = T;
  static constexpr bool kDeep = true, kAsync = false;
  static constexpr int kPack = 1;

  const T* grad;
  ConvShape shape;

  struct Line {
    const T* at;  ///< null outside
  };
  __device__ __forceinline__ Line line(int index, int group) const {
    if (index >= shape.out_channels) return {nullptr};
    return {grad + int64_t{group * shape.out_channels + index} * shape.positions};
  }
  __device__ __forceinline__ void fetch(T (&to)[1], const Line& line, int depth, int end) const {
    const Quotient sample = divide(depth, shape.by_positions);
    const int64_t plane = int64_t{sample.quotient} * shape.groups * shape.out_channels;
    to[0] = line.at && depth < end ? line.at[plane * shape.positions + sample.rest] : T{};
  }
};

/// Input patches: a row for each channel and tap, over the positions of all samples.
template <class T>
struct PatchRows {
  using Element = T;
  static constexpr bool kDeep = true, kAsync = false;
  static constexpr int kPack = 1;

  const T* in;
  ConvShape shape;

  struct Line {
    const T* at;
    int y, x;  ///< what this tap sees at the first position
  };
  __device__ __forceinline__ Line line(int index, int group) const {
    const Quotient channel = divide(index, shape.by_taps);
    if (channel.quotient >= shape.channels) return {in, kNowhere, 0};
    const Quotient tap = divide(channel.rest, shape.by_kernel_w);
    const int plane = group * shape.channels + channel.quotient;
    return {in + int64_t{plane} * shape.in_plane, tap.quotient * shape.dilation_h - shape.pad_h,
            tap.rest * shape.dilation_w - shape.pad_w};
  }
  __device__ __forceinline__ void fetch(T (&to)[1], const Line& line, int depth, int end) const {
    const Quotient sample = divide(depth, shape.by_positions);
    const Quotient place = divide(sample.rest, shape.by_out_w);
    const int y = line.y + place.quotient * shape.stride_h;
    const int x = line.x + place.rest * shape.stride_w;
    const int64_t plane = int64_t{sample.quotient} * shape.groups * shape.channels;
    const bool there = depth < end && is_inside(y, shape.in_h) && is_inside(x, shape.in_w);
    to[0] = there ? line.at[plane * shape.in_plane + y * shape.in_w + x] : T{};
  }
};

/// Rows of C are channels, columns the pixels of one sample after the other, as NCHW wants them
/// apart.
template <class T, class C>
struct ImageSink {
  T* out;
  const T* bias;  ///< a number per channel, or null
  int channels;   ///< of a group
  int groups, pixels, columns;
  Divider by_pixels;
  bool relu;
  bool packed;  ///< neighbours that a thread has are of one sample and may be stored as one

  template <int kCount>
  __device__ __forceinline__ void store(int row, int col, const C (&sums)[kCount],
                                        int group) const {
    const int channel = group * channels + row;
    const C shift = bias ? static_cast<C>(widen(bias[channel])) : C(0);
    if (kCount > 1 && packed) {
      if (col >= columns) return;
      Packet<T, kCount> pack;
#pragma unroll
      for (int j = 0; j < kCount; ++j) pack.at[j] = finish(sums[j] + shift);
      *reinterpret_cast<Packet<T, kCount>*>(place(channel, col)) = pack;
    } else {
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        if (col + j < columns) *place(channel, col + j) = finish(sums[j] + shift);
      }
    }
  }

 private:
  __device__ __forceinline__ T* place(int channel, int col) const {
    const Quotient sample = divide(col, by_pixels);
    const int64_t plane = int64_t{sample.quotient} * groups * channels + channel;
    return out + plane * pixels + sample.rest;
  }
  __device__ __forceinline__ T finish(C value) const {
    // A NaN stays: it is not below 0.
    return narrow<T>(relu && value < C(0) ? C(0) : value);
  }
};

}  // namespace taper::kernels::cuda
