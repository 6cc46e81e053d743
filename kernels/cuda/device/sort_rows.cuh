#pragma once

#include "taper/kernels/cuda/device/scan.cuh"

// Sorting in shared memory, with the first of equals first and NaN as the largest.
//
//   sort_short_rows   rows of up to 2048 elements, several of the shorter ones in a block
//   select_long_rows  the first k of longer rows, for k up to 2048: the k-th key is found digit by
//                     digit from the highest, then what does not come after it is sorted
//
// U is an unsigned number of the element's size: elements are known by their bits.

namespace taper::kernels::cuda {

constexpr int kSortBlock = 256;
constexpr int kSortTile = 2048;  // items in shared memory: 16 or 32 KiB, of which two blocks fit

/// How bits become a key: an unsigned number that is less where the element comes first.
struct KeyRule {
  uint64_t infinity;  ///< its bits, above which are only NaNs; 0 for integers
  uint64_t sign;      ///< the sign bit of signed integers, else 0
  uint64_t flip;      ///< all bits, to sort descending
};

template <class U>
__device__ __forceinline__ U sort_key(U bits, const KeyRule& rule) {
  constexpr U kSign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  U key = static_cast<U>(bits ^ rule.sign);
  if (rule.infinity != 0) {
    // -0 equals 0, and NaNs are equal.
    const U magnitude = static_cast<U>(bits & ~kSign);
    key = static_cast<U>((bits & kSign) != 0 && magnitude != 0 ? ~bits : magnitude | kSign);
    if (magnitude > rule.infinity) key = static_cast<U>(~U{0});
  }
  return static_cast<U>(key ^ rule.flip);
}

/// A key of up to 32 bits above its position, so that comparing items sorts stably.
struct NarrowItem {
  uint64_t bits;

  __device__ static NarrowItem make(uint64_t key, uint32_t position) {
    return {key << 32 | position};
  }
  __device__ static NarrowItem last() { return {~uint64_t{0}}; }
  __device__ uint32_t position() const { return static_cast<uint32_t>(bits); }
  __device__ bool operator<(const NarrowItem& other) const { return bits < other.bits; }
};
struct WideItem {
  uint64_t key;
  uint64_t at;

  __device__ static WideItem make(uint64_t key, uint32_t position) { return {key, position}; }
  __device__ static WideItem last() { return {~uint64_t{0}, ~uint64_t{0}}; }
  __device__ uint32_t position() const { return static_cast<uint32_t>(at); }
  __device__ bool operator<(const WideItem& other) const {
    return key < other.key || (key == other.key && at < other.at);
  }
};
template <class U>
using SortItem = std::conditional_t<sizeof(U) == 8, WideItem, NarrowItem>;

struct SortCall {
  const void* in;
  void* values;
  int64_t* indices;
  int64_t rows, size, inner, k;
  // In shared memory; powers of 2.
  int32_t segment;  ///< items of a row
  int32_t tile;     ///< items of a block
  KeyRule rule;

  /// Where row `row` begins in a tensor with `length` elements along the axis.
  __device__ __forceinline__ int64_t start(int64_t row, int64_t length) const {
    if (inner == 1) return row * length;
    const int64_t outer = row / inner;
    return outer * length * inner + (row - outer * inner);
  }
};

/// Sorts each `segment` of the block's items by Batcher's bitonic network; all threads take part,
/// and the items have been written before a barrier.
template <class Item>
__device__ __forceinline__ void bitonic_sort(Item* items, int count, int segment) {
  for (int span = 2; span <= segment; span *= 2) {
    for (int apart = span / 2; apart > 0; apart /= 2) {
      for (int pair = threadIdx.x; pair < count / 2; pair += kSortBlock) {
        const int low = (pair & ~(apart - 1)) * 2 + (pair & (apart - 1));
        const Item a = items[low], b = items[low + apart];
        const bool ascending = (low & (segment - 1) & span) == 0;
        if ((b < a) == ascending) {
          items[low] = b;
          items[low + apart] = a;
        }
      }
      __syncthreads();  // the next step pairs other items
    }
  }
}

/// Writes the first k of a sorted row.
template <class U, class Item>
__device__ __forceinline__ void put_sorted(const SortCall& call, int64_t row, int64_t i,
                                           const Item& item) {
  const U* const in = static_cast<const U*>(call.in) + call.start(row, call.size);
  const int64_t to = call.start(row, call.k) + i * call.inner;
  call.indices[to] = item.position();
  static_cast<U*>(call.values)[to] = in[item.position() * call.inner];
}

template <class U>
__global__ void __launch_bounds__(kSortBlock)
    sort_short_rows(const __grid_constant__ SortCall call) {
  using Item = SortItem<U>;
  TAPER_SHARED(Item, items, [kSortTile]);
  const int segment = call.segment, rows = call.tile / segment;
  const int64_t first_row = int64_t{blockIdx.x} * rows;
  // Neighbouring threads read neighbours in memory: along the row, or the same place of several.
  const bool along = call.inner == 1;
  for (int n = threadIdx.x; n < call.tile; n += kSortBlock) {
    const int r = along ? n / segment : n % rows, i = along ? n % segment : n / rows;
    const int64_t row = first_row + r;
    Item item = Item::last();
    if (row < call.rows && i < call.size) {
      const U* const in = static_cast<const U*>(call.in) + call.start(row, call.size);
      item = Item::make(sort_key(in[i * call.inner], call.rule), static_cast<uint32_t>(i));
    }
    items[r * segment + i] = item;
  }
  __syncthreads();  // all items are there
  bitonic_sort(items, call.tile, segment);
  for (int n = threadIdx.x; n < call.tile; n += kSortBlock) {
    const int r = along ? n / segment : n % rows, i = along ? n % segment : n / rows;
    if (first_row + r < call.rows && i < call.k) {
      put_sorted<U>(call, first_row + r, i, items[r * segment + i]);
    }
  }
}

/// A block a row; segment >= k.
template <class U>
__global__ void __launch_bounds__(kSortBlock)
    select_long_rows(const __grid_constant__ SortCall call) {
  using Item = SortItem<U>;
  constexpr int kBits = 8 * static_cast<int>(sizeof(U));
  static_assert(kSortBlock == 256, "a thread a digit");
  TAPER_SHARED(unsigned, counts, [256]);
  TAPER_SHARED(unsigned, chosen, [2]);
  TAPER_SHARED(Item, items, [kSortTile]);
  const int64_t row = blockIdx.x;
  const U* const in = static_cast<const U*>(call.in) + call.start(row, call.size);
  const auto size = static_cast<unsigned>(call.size), k = static_cast<unsigned>(call.k);

  // The key of the k-th: how many keys with the digits found so far have which next digit?
  U prefix = 0;
  unsigned wanted = k;  // how many of those that begin with prefix
  for (int shift = kBits - 8; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();  // the counts are 0
    for (unsigned i = threadIdx.x; i < size; i += kSortBlock) {
      const U key = sort_key(in[i * call.inner], call.rule);
      // In two steps, as no shift may take all bits.
      if (static_cast<U>((key ^ prefix) >> shift >> 7 >> 1) == 0) {
        atomicAdd(&counts[key >> shift & 255], 1u);
      }
    }
    __syncthreads();  // all keys are counted
    const unsigned mine = counts[threadIdx.x];
    const unsigned before = scan_threads<kSortBlock>(mine, 0u, AddFold()).before;
    if (before < wanted && wanted <= before + mine) {
      chosen[0] = threadIdx.x;
      chosen[1] = before;
    }
    __syncthreads();  // one thread has chosen
    prefix = static_cast<U>(prefix | static_cast<U>(U(chosen[0]) << shift));
    wanted -= chosen[1];
    __syncthreads();  // everybody knows; the counts may be used again
  }

  // Those before it, k - wanted of them, in any order; of its equals the first `wanted`, in theirs.
  unsigned* const taken = counts;
  for (int n = threadIdx.x; n < call.segment; n += kSortBlock) items[n] = Item::last();
  if (threadIdx.x == 0) taken[0] = 0;
  __syncthreads();  // nothing is taken
  unsigned equals = 0;
  for (unsigned tile = 0; tile < size; tile += kSortBlock) {
    const unsigned i = tile + threadIdx.x;
    const U key = i < size ? sort_key(in[i * call.inner], call.rule) : static_cast<U>(~U{0});
    if (i < size && key < prefix) items[atomicAdd(&taken[0], 1u)] = Item::make(key, i);
    if (equals < wanted) {
      const bool equal = i < size && key == prefix;
      const auto found = scan_threads<kSortBlock>(equal ? 1u : 0u, 0u, AddFold());
      const unsigned number = equals + found.before;
      if (equal && number < wanted) items[k - wanted + number] = Item::make(key, i);
      equals += found.total;
    }
  }
  __syncthreads();  // all k are there
  bitonic_sort(items, call.segment, call.segment);
  for (unsigned i = threadIdx.x; i < k; i += kSortBlock) put_sorted<U>(call, row, i, items[i]);
}

}  // namespace taper::kernels::cuda
