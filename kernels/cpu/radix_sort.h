#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "taper/kernels/cpu/cpu.h"

// Stable sorting of keys with a payload: radix sort by bytes from the lowest, whose passes over a
// byte that all keys share are left out.

TAPER_CPU_BEGIN

/// A key of up to 32 bits above a 32-bit index. Comparing whole items sorts stably.
struct NarrowItem {
  uint64_t bits;

  static TAPER_INLINE NarrowItem make(uint64_t key, int64_t index) {
    return {key << 32 | static_cast<uint32_t>(index)};
  }
  TAPER_INLINE uint64_t key() const { return bits >> 32; }
  TAPER_INLINE int64_t index() const { return static_cast<int64_t>(bits & 0xffffffffu); }
  friend TAPER_INLINE bool operator<(NarrowItem a, NarrowItem b) { return a.bits < b.bits; }
};

struct WideItem {
  uint64_t key_;
  int64_t index_;

  static TAPER_INLINE WideItem make(uint64_t key, int64_t index) { return {key, index}; }
  TAPER_INLINE uint64_t key() const { return key_; }
  TAPER_INLINE int64_t index() const { return index_; }
  friend TAPER_INLINE bool operator<(const WideItem& a, const WideItem& b) {
    return a.key_ < b.key_ || (a.key_ == b.key_ && a.index_ < b.index_);
  }
};

/// Sorts `items` by the low `kBytes` bytes of their keys, keeping the order of equal ones; `buffer`
/// is as large. Returns which of the two holds the result.
template <int kBytes, class Item>
Item* radix_sort(Item* items, Item* buffer, int64_t count) {
  // A narrow item's index has 32 bits, and so has any count of them.
  using Count = std::conditional_t<sizeof(Item) == 8, uint32_t, int64_t>;
  Count starts[kBytes][256] = {};
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = items[i].key();
    for (int b = 0; b < kBytes; ++b) ++starts[b][key >> (8 * b) & 0xff];
  }
  if (count == 0) return items;
  for (int b = 0; b < kBytes; ++b) {
    Count* const start = starts[b];
    if (start[items[0].key() >> (8 * b) & 0xff] == static_cast<Count>(count)) continue;
    Count sum = 0;
    for (int digit = 0; digit < 256; ++digit) sum += std::exchange(start[digit], sum);
    for (int64_t i = 0; i < count; ++i) {
      const Item item = items[i];
      buffer[start[item.key() >> (8 * b) & 0xff]++] = item;
    }
    std::swap(items, buffer);
  }
  return items;
}

TAPER_CPU_END
