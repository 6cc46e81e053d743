#include "taper/kernels/cuda/sort_pairs.h"

#include <utility>

#include "taper/kernels/cuda/device/scan.cuh"
#include "taper/kernels/cuda/dtypes.h"

// A radix sort from the lowest digit up, eight bits a pass, each of which keeps the order of equal
// digits. A block has a range of pairs; a pass is
//   count_digits     how often each digit is in each range
//   scan_digits      how many pairs of a digit are in the ranges before; not for one range alone
//   place_by_digit   moves each pair to its place

namespace taper::kernels::cuda {

namespace {

constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
constexpr int kSortBlock = kDigits;  // a thread a digit where counters are added up
constexpr int kSortWarps = kSortBlock / kWarpSize;
constexpr int kKeys = 8;  // of a thread at once: enough loads under way, and few barriers
constexpr uint32_t kChunk = kSortBlock * kKeys;

__device__ __forceinline__ uint32_t digit_of(uint64_t key, int shift) {
  return static_cast<uint32_t>(key >> shift) & (kDigits - 1);
}

/// counts[digit][range].
__global__ void __launch_bounds__(kSortBlock)
    count_digits(uint32_t* counts, const uint64_t* keys, uint32_t count, uint32_t range,
                 int shift) {
  TAPER_SHARED(uint32_t, found, [kDigits]);
  found[threadIdx.x] = 0;
  __syncthreads();  // all counters are zero
  const uint32_t begin = blockIdx.x * range;
  const uint32_t end = min(begin + range, count);
  for (uint32_t i = begin + threadIdx.x; i < end; i += kSortBlock) {
    atomicAdd(&found[digit_of(keys[i], shift)], 1u);
  }
  __syncthreads();  // all are counted
  counts[threadIdx.x * gridDim.x + blockIdx.x] = found[threadIdx.x];
}

/// A warp a digit: its counts become the sums of those before, and totals[digit] that of all.
__global__ void __launch_bounds__(kSortBlock)
    scan_digits(uint32_t* counts, uint32_t* totals, uint32_t ranges) {
  const uint32_t digit = blockIdx.x * kSortWarps + threadIdx.x / kWarpSize;
  const uint32_t lane = threadIdx.x % kWarpSize;
  uint32_t* const row = counts + digit * ranges;
  uint32_t sum = 0;
  for (uint32_t begin = 0; begin < ranges; begin += kWarpSize) {
    const uint32_t i = begin + lane;
    const auto scanned = scan_threads<kWarpSize>(i < ranges ? row[i] : 0u, 0u, AddFold());
    if (i < ranges) row[i] = sum + scanned.before;
    sum += scanned.total;
  }
  if (lane == 0) totals[digit] = sum;
}

/// Warp w has keys [w, w + 1) * 32 * kKeys of a chunk, in rows of 32, and counters of its own.
__global__ void __launch_bounds__(kSortBlock)
    place_by_digit(uint64_t* __restrict__ to_keys, int32_t* __restrict__ to_numbers,
                   const uint64_t* __restrict__ keys, const int32_t* __restrict__ numbers,
                   uint32_t count, uint32_t range, int shift, const uint32_t* __restrict__ before,
                   const uint32_t* __restrict__ totals) {
  TAPER_SHARED(uint32_t, of_warps, [kSortWarps][kDigits]);
  const uint32_t t = threadIdx.x, warp = t / kWarpSize, lane = t % kWarpSize;
  // Where the next pair with digit t goes.
  uint32_t place = scan_threads<kSortBlock>(totals[t], 0u, AddFold()).before +
                   (before ? before[t * gridDim.x + blockIdx.x] : 0);
  const uint32_t begin = blockIdx.x * range;
  const uint32_t end = min(begin + range, count);
  for (uint32_t chunk = begin; chunk < end; chunk += kChunk) {
#pragma unroll
    for (int w = 0; w < kSortWarps; ++w) of_warps[w][t] = 0;
    __syncthreads();  // all counters are zero
    const uint32_t first = chunk + warp * (kWarpSize * kKeys) + lane;
    uint64_t key[kKeys];
    uint32_t rank[kKeys];
#pragma unroll
    for (int k = 0; k < kKeys; ++k) {
      const uint32_t i = first + k * kWarpSize;
      key[k] = i < end ? keys[i] : 0;
    }
#pragma unroll
    for (int k = 0; k < kKeys; ++k) {
      const bool there = first + k * kWarpSize < end;
      const uint32_t digit = there ? digit_of(key[k], shift) : kDigits;
      const uint32_t same = __match_any_sync(kFullMask, digit);
      const int below = __popc(same & ((1u << lane) - 1));
      const uint32_t seen = there ? of_warps[warp][digit] : 0;
      rank[k] = seen + static_cast<uint32_t>(below);
      __syncwarp();  // all lanes have read the counter
      if (there && below == 0) of_warps[warp][digit] = seen + static_cast<uint32_t>(__popc(same));
      __syncwarp();  // it counts this row
    }
    __syncthreads();  // all warps have counted
#pragma unroll
    for (int w = 0; w < kSortWarps; ++w) {
      const uint32_t found = of_warps[w][t];
      of_warps[w][t] = place;
      place += found;
    }
    __syncthreads();  // the counters are places now
#pragma unroll
    for (int k = 0; k < kKeys; ++k) {
      const uint32_t i = first + k * kWarpSize;
      if (i >= end) continue;
      const uint32_t to = of_warps[warp][digit_of(key[k], shift)] + rank[k];
      to_keys[to] = key[k];
      to_numbers[to] = numbers[i];
    }
    __syncthreads();  // the places have been read
  }
}

}  // namespace

Status sort_pairs(Pairs& pairs, Pairs& spare, int64_t count, int bits, const Stream& stream) {
  if (count < 2) return {};
  // More ranges than run at once would only mean more counters.
  const int64_t at_once = 4 * properties_of(stream.device).multi_processor_count;
  const int64_t chunks = ceil_div(count, kChunk);
  const unsigned range = ceil_div(chunks, std::min(chunks, at_once)) * kChunk;
  const unsigned ranges = ceil_div(count, range);
  const Scratch<uint32_t> counts(stream, int64_t{kDigits} * ranges + kDigits);
  TAPER_TRY(counts.status());
  uint32_t* const before = ranges == 1 ? nullptr : counts.get();
  uint32_t* const totals = ranges == 1 ? counts.get() : before + int64_t{kDigits} * ranges;
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    TAPER_TRY(launch(stream, count_digits, ranges, kSortBlock, 0, counts.get(), pairs.keys, count,
                     range, shift));
    if (before) {
      TAPER_TRY(
          launch(stream, scan_digits, kDigits / kSortWarps, kSortBlock, 0, before, totals, ranges));
    }
    TAPER_TRY(launch(stream, place_by_digit, ranges, kSortBlock, 0, spare.keys, spare.numbers,
                     pairs.keys, pairs.numbers, count, range, shift, before, totals));
    std::swap(pairs, spare);
  }
  return {};
}

}  // namespace taper::kernels::cuda
