#pragma once

#include <algorithm>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/pool.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/plan.h"

// The host's half of pooling and resizing. For .cu files.

namespace taper::kernels::cuda {

inline PoolShape shape_of(const PoolPlan& p) {
  const auto narrow = [](int64_t n) { return static_cast<int>(n); };
  const auto by = [](int64_t n) { return Divider(static_cast<uint32_t>(n < 1 ? 1 : n)); };
  PoolShape s{};
  s.in_h = narrow(p.in_h), s.in_w = narrow(p.in_w);
  s.out_h = narrow(p.out_h), s.out_w = narrow(p.out_w);
  s.in_plane = narrow(p.in_h * p.in_w), s.out_plane = narrow(p.out_h * p.out_w);
  s.kernel_h = narrow(p.kernel_h), s.kernel_w = narrow(p.kernel_w);
  s.stride_h = narrow(p.stride_h), s.stride_w = narrow(p.stride_w);
  s.pad_h = narrow(p.pad_h), s.pad_w = narrow(p.pad_w);
  s.dilation_h = narrow(p.dilation_h), s.dilation_w = narrow(p.dilation_w);
  s.by_in_plane = by(s.in_plane), s.by_in_w = by(s.in_w);
  s.by_out_plane = by(s.out_plane), s.by_out_w = by(s.out_w);
  return s;
}

/// Calls run(first_plane, planes) for as many planes at a time as 32 bits count.
template <class Run>
Status for_planes(const PoolPlan& p, const Run& run) {
  constexpr int64_t kMost = (int64_t{1} << 31) - (1 << 24);  // a grid's stride is added to it
  const int64_t in = p.in_h * p.in_w, out = p.out_h * p.out_w;
  if (in > kMost || out > kMost) {
    return {Code::kInvalidValue, 0, 0, "a plane of 2^31 elements or more"};
  }
  const int64_t most = kMost / std::max({int64_t{1}, in, out});
  for (int64_t first = 0; first < p.planes; first += most) {
    TAPER_TRY(run(first, std::min(most, p.planes - first)));
  }
  return {};
}

/// Enough blocks to fill the card; each thread goes on to further pixels.
inline dim3 pool_blocks(int64_t count, const Stream& stream) {
  const int most = 16 * properties_of(stream.device).multi_processor_count;
  return dim3(std::min(ceil_div(count, kPoolThreads), static_cast<unsigned>(most)));
}

/// kernel(to, from, more..., count): a thread a pixel of `to`, on as many planes at a time as 32
/// bits count.
template <class Kernel, class T, class... More>
Status launch_pixels(const PoolPlan& p, const Stream& stream, Kernel* kernel, T* to,
                     int64_t to_plane, const T* from, int64_t from_plane, const More&... more) {
  return for_planes(p, [&](int64_t first, int64_t planes) {
    const int64_t count = planes * to_plane;
    return launch(stream, kernel, pool_blocks(count, stream), dim3(kPoolThreads), 0,
                  to + first * to_plane, from + first * from_plane, more..., count);
  });
}

}  // namespace taper::kernels::cuda
