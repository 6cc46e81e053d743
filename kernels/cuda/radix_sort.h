#pragma once

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/radix_sort.cuh"

// The host side of device/radix_sort.cuh.

namespace taper::kernels::cuda {

constexpr int64_t kMostRadixRows = 65535;  // what the y dimension of a grid can have

/// Keys of type U with payloads of 32 bits, [rows][size], and as much room for the other side of
/// each pass. A row has less than 2^31 of them.
template <class U>
class RadixSorter {
 public:
  /// For so many elements at most.
  RadixSorter(const Stream& stream, int64_t rows, int64_t size)
      : stream_(stream),
        room_(rows * size),
        keys_(stream, 2 * room_),
        payloads_(stream, 2 * room_),
        counts_(stream, rows * kRadixDigits * (tiles_of(size) + 1)) {}

  Status status() const {
    if (!keys_.status().ok()) return keys_.status();
    return payloads_.status().ok() ? counts_.status() : payloads_.status();
  }
  /// To be filled in, then sorted; and where they then are.
  U* keys() const { return keys_.get() + side_ * room_; }
  int32_t* payloads() const { return payloads_.get() + side_ * room_; }

  /// Sorts each row by the low `bits` of its keys.
  Status sort(int64_t rows, int64_t row_size, int bits) {
    if (row_size < 2) return {};
    const auto size = static_cast<uint32_t>(row_size);
    const auto tiles = static_cast<uint32_t>(tiles_of(row_size));
    const dim3 grid(tiles, static_cast<unsigned>(rows)), block(kRadixBlock);
    // One tile's counts are those of all.
    uint32_t* const counts = counts_.get();
    uint32_t* const offsets = tiles == 1 ? nullptr : counts;
    uint32_t* const totals = tiles == 1 ? counts : counts + rows * kRadixDigits * tiles;
    for (int shift = 0; shift < bits; shift += 8) {
      const U* const from_keys = keys();
      const int32_t* const from_payloads = payloads();
      TAPER_TRY(launch(stream_, radix_count<U>, grid, block, 0, counts, from_keys, size, shift));
      if (offsets) {
        TAPER_TRY(launch(stream_, radix_offsets<uint32_t>,
                         dim3(kRadixDigits / kRadixDigitsOfBlock, static_cast<unsigned>(rows)),
                         block, 0, offsets, totals, tiles));
      }
      side_ = 1 - side_;
      TAPER_TRY(launch(stream_, radix_scatter<U>, grid, block, 0, keys(), payloads(), from_keys,
                       from_payloads, offsets, totals, size, shift));
    }
    return {};
  }

 private:
  static int64_t tiles_of(int64_t size) { return (size + kRadixTile - 1) / kRadixTile; }

  Stream stream_;
  int64_t room_;
  int side_ = 0;
  Scratch<U> keys_;
  Scratch<int32_t> payloads_;
  Scratch<uint32_t> counts_;
};

}  // namespace taper::kernels::cuda
