#pragma once

#include "taper/kernels/cuda/device/patches.cuh"
#include "taper/kernels/plan.h"

namespace taper::kernels::cuda {

/// The plan in 32 bits; conv.cpp has seen that it fits.
inline ConvShape shape_of(const ConvPlan& p) {
  const auto narrow = [](int64_t n) { return static_cast<int>(n); };
  const auto by = [](int64_t n) { return Divider(static_cast<uint32_t>(n < 1 ? 1 : n)); };
  ConvShape s{};
  s.channels = narrow(p.in_channels / p.groups);
  s.out_channels = narrow(p.out_channels / p.groups);
  s.groups = narrow(p.groups);
  s.in_h = narrow(p.in_h), s.in_w = narrow(p.in_w);
  s.out_h = narrow(p.out_h), s.out_w = narrow(p.out_w);
  s.in_plane = narrow(p.in_h * p.in_w), s.positions = narrow(p.out_h * p.out_w);
  s.taps = narrow(p.kernel_h * p.kernel_w), s.kernel_w = narrow(p.kernel_w);
  s.stride_h = narrow(p.stride_h), s.stride_w = narrow(p.stride_w);
  s.pad_h = narrow(p.pad_h), s.pad_w = narrow(p.pad_w);
  s.dilation_h = narrow(p.dilation_h), s.dilation_w = narrow(p.dilation_w);
  s.by_taps = by(s.taps), s.by_kernel_w = by(s.kernel_w);
  s.by_positions = by(s.positions), s.by_out_w = by(s.out_w);
  s.by_in_plane = by(s.in_plane), s.by_in_w = by(s.in_w);
  s.by_stride_h = by(s.stride_h), s.by_stride_w = by(s.stride_w);
  return s;
}

}  // namespace taper::kernels::cuda
