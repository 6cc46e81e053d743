#pragma once

#include "taper/kernels/cuda/conv.h"
#include "taper/kernels/cuda/conv_shape.h"
#include "taper/kernels/cuda/product.h"

// The three products of a convolution in tiles (device/patches.cuh says which matrices). For .cu
// files.

namespace taper::kernels::cuda {

template <class T, class C>
ImageSink<T, C> image_sink(const ConvArgs& args, int64_t channels, int64_t pixels, int stored) {
  const ConvPlan& p = *args.plan;
  ImageSink<T, C> sink{};
  sink.out = static_cast<T*>(args.to);
  sink.bias = static_cast<const T*>(args.bias);
  sink.channels = static_cast<int>(channels / p.groups), sink.groups = static_cast<int>(p.groups);
  sink.pixels = static_cast<int>(pixels), sink.columns = static_cast<int>(p.batch * pixels);
  sink.by_pixels = Divider(static_cast<uint32_t>(pixels));
  sink.relu = args.relu;
  sink.packed = pixels % stored == 0 && aligned_to(stored * sizeof(T), sink.out);
  return sink;
}

template <class Tile, class T>
Status conv_forward_in_tiles(const ConvArgs& args, const ConvShape& s, const Stream& stream) {
  const ConvPlan& p = *args.plan;
  const ProductSize size{s.out_channels, p.batch * s.positions, int64_t{s.channels} * s.taps,
                         p.groups};
  MatrixSource<T, true> weights{static_cast<const T*>(args.weight), size.depth, size.m * size.depth,
                                s.out_channels, false};
  weights.packed = size.depth % weights.kPack == 0 && aligned_16(weights.data);
  const Patches<T> patches{static_cast<const T*>(args.image), s, static_cast<int>(size.n)};
  const auto sink =
      image_sink<T, typename Tile::Compute>(args, p.out_channels, s.positions, Tile::kStored);
  return run_product<Tile>(stream, weights, patches, sink, size);
}

template <class Tile, class T>
Status conv_data_in_tiles(const ConvArgs& args, const ConvShape& s, const Stream& stream) {
  const ConvPlan& p = *args.plan;
  const ProductSize size{s.channels, p.batch * s.in_plane, int64_t{s.out_channels} * s.taps,
                         p.groups};
  const TurnedWeights<T> weights{static_cast<const T*>(args.weight), s};
  const GradPatches<T> grad{static_cast<const T*>(args.grad), s, static_cast<int>(size.n)};
  const auto sink =
      image_sink<T, typename Tile::Compute>(args, p.in_channels, s.in_plane, Tile::kStored);
  return run_product<Tile>(stream, weights, grad, sink, size);
}

template <class Tile, class T>
Status conv_weight_in_tiles(const ConvArgs& args, const ConvShape& s, const Stream& stream) {
  using C = typename Tile::Compute;
  const ConvPlan& p = *args.plan;
  const ProductSize size{s.out_channels, int64_t{s.channels} * s.taps, p.batch * s.positions,
                         p.groups};
  const GradRows<T> grad{static_cast<const T*>(args.grad), s};
  const PatchRows<T> patches{static_cast<const T*>(args.image), s};
  const bool packed = size.n % Tile::kStored == 0 && aligned_to(Tile::kStored * sizeof(T), args.to);
  const MatrixSink<T, C> sink{
      static_cast<T*>(args.to), size.n, size.m * size.n, nullptr, C(1), C(0),
      static_cast<int>(size.n), packed};
  return run_product<Tile>(stream, grad, patches, sink, size);
}

/// Large suits many channels on a card that it fills, and forward alone: finding the numbers of a
/// data gradient takes registers that it does not leave, and a weight gradient is small.
template <class Large, class Small, class T>
Status conv_in_tiles(ConvPass pass, const ConvArgs& args, const Stream& stream) {
  const ConvPlan& p = *args.plan;
  const ConvShape s = shape_of(p);
  if (pass == ConvPass::kWeight) return conv_weight_in_tiles<Small, T>(args, s, stream);
  if (pass == ConvPass::kData) return conv_data_in_tiles<Small, T>(args, s, stream);
  const ProductSize size{s.out_channels, p.batch * s.positions, 1, p.groups};
  const bool large = size.m > Small::kM &&
                     tiles_of<Large>(size) >= properties_of(stream.device).multi_processor_count;
  return large ? conv_forward_in_tiles<Large, T>(args, s, stream)
               : conv_forward_in_tiles<Small, T>(args, s, stream);
}

}  // namespace taper::kernels::cuda
