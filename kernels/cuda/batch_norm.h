#pragma once

#include <algorithm>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/kernels.h"

// What the forward and the backward of batch normalisation share on the host: how [batch, channels,
// inner] is cut into blocks. The shape alone decides, so that sums come out the same on every card.

namespace taper::kernels::cuda {

/// Sums per channel in two passes: slices of a channel's batch * inner elements, then the slices.
struct ChannelSlices {
  int64_t count;   ///< elements of a channel
  int64_t slice;   ///< elements of one slice but the last, a multiple of 16
  int64_t slices;  ///< at least 1

  /// Some 1,024 blocks in all, of `least` elements of a channel at least. Columns (inner == 1) come
  /// 32 to a block.
  static ChannelSlices of(const BatchNormArgs& args) {
    const bool columns = args.inner == 1;
    const int64_t blocks = columns ? (args.channels + 31) / 32 : args.channels;
    const int64_t least = columns ? 64 : 2048;
    ChannelSlices it{args.batch * args.inner, 0, 0};
    const int64_t most = std::clamp<int64_t>(1024 / std::max<int64_t>(1, blocks), 1, 64);
    it.slice = std::max(least, ((it.count + most - 1) / most + 15) / 16 * 16);
    it.slices = std::max<int64_t>(1, (it.count + it.slice - 1) / it.slice);
    return it;
  }
};

/// Whether a pack never goes past the end of a plane, or of a row of channels.
inline bool packs_of_channels(const BatchNormArgs& args, int pack) {
  return (args.inner == 1 ? args.channels : args.inner) % pack == 0;
}

/// Calls run(first, batch) for parts of the batch of fewer than 2^31 elements each, which kernels
/// index by 32 bits. A single sample has to be smaller than that.
template <class Run>
Status for_batches(const BatchNormArgs& args, const Run& run) {
  const int64_t sample = args.channels * args.inner;
  if (sample > kMaxRow) return too_long();
  const int64_t at_once = kMaxRow / sample;
  for (int64_t first = 0; first < args.batch; first += at_once) {
    TAPER_TRY(run(first, std::min(at_once, args.batch - first)));
  }
  return {};
}

}  // namespace taper::kernels::cuda
