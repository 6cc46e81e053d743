#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/scan.cuh"
#include "taper/kernels/cuda/device/walk.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/runtime.h"
#include "taper/kernels/element_size.h"

// count_nonzero, nonzero, masked_select, masked_scatter. A block has a range of elements.
//   count_set       how many are set in each range
//   add_counts      one block: how many in all
//   list_set        a block adds up the counts of the ranges before its own, and then gives places
//   to select_set      what is set in its own, tile after tile: for coordinates, for elements that
//   are scatter_set     copied there, for elements that are copied from there

namespace taper::kernels::cuda {

namespace {

constexpr int kSetBlock = 256;        // eight warps: a scan of a tile has two levels
constexpr int64_t kMaxRanges = 1024;  // a block reads the counts of all before it

/// Ranges begin where packets of 16 bytes do; the first has `skew` elements that are not there.
struct Ranges {
  int64_t count;  ///< of elements
  int64_t range;
  int32_t skew;
};

/// Elements are numbers of U without a sign; set are those with a bit of `mask`.
template <class U>
struct Elements {
  const U* at;
  U mask;
  Ranges ranges;

  __device__ __forceinline__ int64_t begin() const {
    return blockIdx.x * ranges.range - ranges.skew;
  }
  __device__ __forceinline__ int64_t end() const {
    const int64_t next = begin() + ranges.range;
    return next < ranges.count ? next : ranges.count;
  }
  // In one expression with the shift, GCC 12's sanitizer for shifts takes at[0] for every element.
  __device__ __forceinline__ uint32_t bit(U element) const { return (element & mask) != 0; }
  /// Bit k: element first + k is there, and set.
  template <int kPacket>
  __device__ __forceinline__ uint32_t set_bits(int64_t first) const {
    uint32_t bits = 0;
    if (first >= 0 && first + kPacket <= ranges.count) {
      const auto packet = *reinterpret_cast<const Packet<U, kPacket>*>(at + first);
#pragma unroll
      for (int k = 0; k < kPacket; ++k) bits |= bit(packet.at[k]) << k;
    } else {
#pragma unroll
      for (int k = 0; k < kPacket; ++k) {
        const int64_t i = first + k;
        if (i >= 0 && i < ranges.count) bits |= bit(at[i]) << k;
      }
    }
    return bits;
  }
};

template <class U>
__global__ void __launch_bounds__(kSetBlock)
    count_set(uint32_t* counts, const __grid_constant__ Elements<U> elements) {
  constexpr int kPacket = 16 / sizeof(U);
  const int64_t end = elements.end();
  uint32_t found = 0;
  for (int64_t i = elements.begin() + threadIdx.x * kPacket; i < end; i += kSetBlock * kPacket) {
    found += static_cast<uint32_t>(__popc(elements.template set_bits<kPacket>(i)));
  }
  found = block_reduce<kSetBlock>(found, AddFold());
  if (threadIdx.x == 0) counts[blockIdx.x] = found;
}

/// The first `ranges` counts together, for all threads of the block.
__device__ __forceinline__ int64_t sum_of_counts(const uint32_t* counts, uint32_t ranges) {
  int64_t sum = 0;
  for (uint32_t i = threadIdx.x; i < ranges; i += kSetBlock) sum += counts[i];
  return block_reduce<kSetBlock>(sum, AddFold());
}

__global__ void __launch_bounds__(kSetBlock)
    add_counts(int64_t* total, const uint32_t* counts, uint32_t ranges) {
  const int64_t sum = sum_of_counts(counts, ranges);
  if (threadIdx.x == 0) *total = sum;
}

/// visit(element, place) for what is set in the block's range.
template <int kPacket, class U, class Visit>
__device__ __forceinline__ void for_each_set(const Elements<U>& elements, const uint32_t* counts,
                                             const Visit& visit) {
  const int64_t end = elements.end();
  int64_t before = sum_of_counts(counts, blockIdx.x);
  for (int64_t tile = elements.begin(); tile < end; tile += kSetBlock * kPacket) {
    const int64_t first = tile + threadIdx.x * kPacket;
    uint32_t bits = elements.template set_bits<kPacket>(first);
    const auto scanned = scan_threads<kSetBlock>(__popc(bits), 0, AddFold());
    int64_t place = before + scanned.before;
    for (; bits != 0; bits &= bits - 1) visit(first + __ffs(static_cast<int>(bits)) - 1, place++);
    before += scanned.total;
  }
}

struct Shape {
  int32_t rank;
  bool narrow;  ///< 32 bits can count the elements
  Divider sizes[kMaxWalkRank];
  int64_t wide_sizes[kMaxWalkRank];
};

template <class U>
__global__ void __launch_bounds__(kSetBlock)
    list_set(int64_t* out, const __grid_constant__ Elements<U> elements, const uint32_t* counts,
             const __grid_constant__ Shape shape) {
  for_each_set<16 / sizeof(U)>(elements, counts, [&](int64_t element, int64_t place) {
    int64_t* const row = out + place * shape.rank;
    if (shape.narrow) {
      auto rest = static_cast<uint32_t>(element);
      for (int d = shape.rank - 1; d > 0; --d) {
        const uint32_t quotient = shape.sizes[d].quotient(rest);
        row[d] = rest - quotient * shape.sizes[d].divisor;
        rest = quotient;
      }
      row[0] = rest;
    } else {
      int64_t rest = element;
      for (int d = shape.rank - 1; d > 0; --d) {
        const int64_t quotient = rest / shape.wide_sizes[d];
        row[d] = rest - quotient * shape.wide_sizes[d];
        rest = quotient;
      }
      row[0] = rest;
    }
  });
}

// Four bytes of a mask for a thread, so that a warp's threads move elements close to each other.
constexpr int kMaskPacket = 4;

template <class U>
__global__ void __launch_bounds__(kSetBlock)
    select_set(U* out, const U* in, const __grid_constant__ Elements<uint8_t> mask,
               const uint32_t* counts) {
  for_each_set<kMaskPacket>(mask, counts,
                            [&](int64_t element, int64_t place) { out[place] = in[element]; });
}

template <class U>
__global__ void __launch_bounds__(kSetBlock)
    scatter_set(U* self, const U* src, const __grid_constant__ Elements<uint8_t> mask,
                const uint32_t* counts) {
  for_each_set<kMaskPacket>(mask, counts,
                            [&](int64_t element, int64_t place) { self[element] = src[place]; });
}

template <class U>
Elements<U> elements_of(const void* in, U mask, int64_t count, const Stream& stream,
                        unsigned& blocks) {
  constexpr int64_t kTile = int64_t{kSetBlock} * 16;
  Elements<U> elements{static_cast<const U*>(in), mask, {}};
  const auto skew = static_cast<int64_t>(reinterpret_cast<uintptr_t>(in) % 16 / sizeof(U));
  const int64_t all = count + skew, tiles = (all + kTile - 1) / kTile;
  const int64_t at_once = elementwise_blocks(all, stream);
  const int64_t range = (tiles - 1) / std::min({tiles, at_once, kMaxRanges}) * kTile + kTile;
  elements.ranges = {count, range, static_cast<int32_t>(skew)};
  blocks = ceil_div(all, range);
  return elements;
}

/// visit(elements) of unsigned numbers, in which -0 has no bit set.
template <class Visit>
Status for_elements(const void* in, ScalarType dtype, int64_t count, const Stream& stream,
                    unsigned& blocks, const Visit& visit) {
  const bool sign = is_floating_point(dtype);
  const auto elements = [&]<class U>(U ones) {
    const U mask = sign ? static_cast<U>(ones >> 1) : ones;
    return visit(elements_of<U>(in, mask, count, stream, blocks));
  };
  switch (element_size(dtype)) {
    case 1:
      return elements(static_cast<uint8_t>(~0u));
    case 2:
      return elements(static_cast<uint16_t>(~0u));
    case 4:
      return elements(~uint32_t{0});
    case 8:
      return elements(~uint64_t{0});
    default:
      return unsupported();
  }
}

/// Calls visit(mask, counts) once the counts of a mask's ranges are under way.
template <class Visit>
Status for_mask(const bool* mask, int64_t count, const Stream& stream, const Visit& visit) {
  unsigned blocks = 0;
  const auto elements = elements_of<uint8_t>(mask, 0xff, count, stream, blocks);
  const Scratch<uint32_t> counts(stream, blocks);
  TAPER_TRY(counts.status());
  TAPER_TRY(launch(stream, count_set<uint8_t>, blocks, kSetBlock, 0, counts.get(), elements));
  return visit(elements, counts.get(), blocks);
}

}  // namespace

Status count_nonzero(int64_t* host_count, const void* in, ScalarType dtype, int64_t numel,
                     Stream stream) {
  *host_count = 0;
  if (numel == 0) return {};
  unsigned blocks = 0;
  return for_elements(in, dtype, numel, stream, blocks, [&]<class U>(const Elements<U>& elements) {
    const Scratch<int64_t> total(stream, 1);
    TAPER_TRY(total.status());
    const Scratch<uint32_t> counts(stream, blocks);
    TAPER_TRY(counts.status());
    TAPER_TRY(launch(stream, count_set<U>, blocks, kSetBlock, 0, counts.get(), elements));
    TAPER_TRY(launch(stream, add_counts, 1, kSetBlock, 0, total.get(), counts.get(), blocks));
    return runtime::copy(host_count, kHost, total.get(), stream.device, sizeof(int64_t), stream,
                         stream, false);
  });
}

Status nonzero(int64_t* out, const void* in, ScalarType dtype, int rank, const int64_t* sizes,
               Stream stream) {
  Shape shape{};
  int64_t numel = 1;
  for (int d = 0; d < rank; ++d) numel *= sizes[d];
  if (numel == 0 || rank == 0) return {};  // of a number there are no coordinates
  shape.rank = rank;
  shape.narrow = numel < int64_t{1} << 31;
  for (int d = 0; d < rank; ++d) {
    shape.wide_sizes[d] = sizes[d];
    if (shape.narrow) shape.sizes[d] = Divider(static_cast<uint32_t>(sizes[d]));
  }
  unsigned blocks = 0;
  return for_elements(in, dtype, numel, stream, blocks, [&]<class U>(const Elements<U>& elements) {
    const Scratch<uint32_t> counts(stream, blocks);
    TAPER_TRY(counts.status());
    TAPER_TRY(launch(stream, count_set<U>, blocks, kSetBlock, 0, counts.get(), elements));
    return launch(stream, list_set<U>, blocks, kSetBlock, 0, out, elements, counts.get(), shape);
  });
}

Status masked_select(void* out, const void* in, const bool* mask, ScalarType dtype, int64_t numel,
                     Stream stream) {
  if (numel == 0) return {};
  return for_mask(mask, numel, stream,
                  [&](const auto& set, const uint32_t* counts, unsigned blocks) {
                    return for_element_size(dtype, [&]<class U>(U) {
                      return launch(stream, select_set<U>, blocks, kSetBlock, 0,
                                    static_cast<U*>(out), static_cast<const U*>(in), set, counts);
                    });
                  });
}

Status masked_scatter(void* self, const bool* mask, const void* src, ScalarType dtype,
                      int64_t numel, Stream stream) {
  if (numel == 0) return {};
  return for_mask(mask, numel, stream,
                  [&](const auto& set, const uint32_t* counts, unsigned blocks) {
                    return for_element_size(dtype, [&]<class U>(U) {
                      return launch(stream, scatter_set<U>, blocks, kSetBlock, 0,
                                    static_cast<U*>(self), static_cast<const U*>(src), set, counts);
                    });
                  });
}

}  // namespace taper::kernels::cuda
