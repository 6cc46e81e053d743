#include "taper/kernels/cpu/radix_sort.h"

TAPER_CPU_BEGIN

namespace {

template <int kBytes>
struct UintOf;
template <>
struct UintOf<1> {
  using type = uint8_t;
};
template <>
struct UintOf<2> {
  using type = uint16_t;
};
template <>
struct UintOf<4> {
  using type = uint32_t;
};
template <>
struct UintOf<8> {
  using type = uint64_t;
};

// Bits of infinity, above which are only NaNs.
template <class T>
constexpr uint64_t kInfinity = 0;
template <>
constexpr uint64_t kInfinity<float> = 0x7f800000u;
template <>
constexpr uint64_t kInfinity<double> = 0x7ff0000000000000u;
template <>
constexpr uint64_t kInfinity<Half> = 0x7c00u;
template <>
constexpr uint64_t kInfinity<BFloat16> = 0x7f80u;

// An unsigned number in the order of x: NaNs equal and above all, -0 equal to 0.
template <class T>
TAPER_INLINE uint64_t order_key(T x) {
  using U = typename UintOf<sizeof(T)>::type;
  constexpr U kSign = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
  const U bits = __builtin_bit_cast(U, x);
  if constexpr (kInfinity<T> != 0) {
    const U magnitude = bits & static_cast<U>(~kSign);
    const U key =
        bits & kSign && magnitude ? static_cast<U>(~bits) : static_cast<U>(magnitude | kSign);
    return magnitude > kInfinity<T> ? static_cast<U>(~U{0}) : key;
  } else {
    return std::is_signed_v<T> ? static_cast<U>(bits ^ kSign) : bits;
  }
}

// The first k of the items in order. A few of many are parted from the rest first: by a heap, or by
// partitions. After that the order of equal keys is lost to a radix sort, but not to comparing
// whole items.
template <int kBytes, class Item>
Item* sort_items(Item* items, Item* buffer, int64_t size, int64_t k) {
  constexpr int64_t kShortRow = 8 * kBytes;  // where counting digits begins to pay
  if (k <= size / 64) {
    std::partial_sort(items, items + k, items + size);
  } else if (k < size / 4) {
    std::nth_element(items, items + k, items + size);
    std::sort(items, items + k);
  } else if (size > kShortRow) {
    return radix_sort<kBytes>(items, buffer, size);
  } else {
    std::sort(items, items + size);
  }
  return items;
}

// One row; `step` between its elements is a constant where rows are dense.
template <class T, class Item, class Step>
void sort_row(const T* in, T* values, int64_t* indices, Item* items, int64_t size, int64_t k,
              uint64_t flip, Step step) {
  for (int64_t i = 0; i < size; ++i) items[i] = Item::make(order_key(in[i * step]) ^ flip, i);
  const Item* const sorted = sort_items<sizeof(T)>(items, items + size, size, k);
  for (int64_t i = 0; i < k; ++i) {
    const int64_t index = sorted[i].index();
    indices[i * step] = index;
    values[i * step] = in[index * step];
  }
}

template <class T, class Item>
Status sort_rows(const SortArgs& args, Stream stream) {
  const int64_t size = args.axis.size, inner = args.axis.inner, k = args.k;
  const uint64_t flip = args.descending ? ~uint64_t{0} >> (64 - 8 * sizeof(T)) : 0;
  bool failed = false;
  const int64_t grain = std::max<int64_t>(1, 4096 / size);
  parallel_for(stream, args.axis.outer * inner, grain, [&](int64_t begin, int64_t end) {
    const Scratch<Item> items(stream, 2 * size);
    if (items.get() == nullptr) {
      __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
      return;
    }
    for (int64_t row = begin; row < end; ++row) {
      const int64_t outer = row / inner, column = row % inner;
      const T* const in = static_cast<const T*>(args.in) + outer * size * inner + column;
      const int64_t to = outer * k * inner + column;
      T* const values = static_cast<T*>(args.values) + to;
      const auto sort_with = [&](auto step) {
        sort_row(in, values, args.indices + to, items.get(), size, k, flip, step);
      };
      if (inner == 1)
        sort_with(std::integral_constant<int64_t, 1>{});
      else
        sort_with(inner);
    }
  });
  if (failed) {
    return {Code::kOutOfMemory, 2 * size * static_cast<int64_t>(sizeof(Item)), 0, nullptr};
  }
  return {};
}

}  // namespace

Status sort(const SortArgs& args, Stream stream) {
  if (args.k == 0) return {};
  return for_any(args.dtype, [&]<class T>(T) {
    if (sizeof(T) < 8 && args.axis.size <= int64_t{UINT32_MAX}) {
      return sort_rows<T, NarrowItem>(args, stream);
    }
    return sort_rows<T, WideItem>(args, stream);
  });
}

TAPER_CPU_END
