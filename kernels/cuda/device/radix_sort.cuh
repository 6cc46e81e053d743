#pragma once

#include "taper/kernels/cuda/device/scan.cuh"

// Sorting of keys with a payload by digits of eight bits, from the lowest; equal keys keep their
// order. Rows are sorted by themselves and cut into tiles. For each digit
//   radix_count    counts in each tile how many keys have which digit;
//   radix_offsets  makes of these where, among the keys of that digit, those of a tile begin;
//   radix_scatter  moves keys and payloads there.
// Grids are (tiles, rows).

namespace taper::kernels::cuda {

constexpr int kRadixBlock = 256;
constexpr int kRadixDigits = 256;
constexpr int kRadixEach = 8;  // keys of a thread; more would spill with keys of 64 bits
constexpr int kRadixDigitsOfBlock = kRadixBlock / kWarpSize;  // in radix_offsets
constexpr int kRadixTile = kRadixBlock * kRadixEach;
static_assert(kRadixBlock == kRadixDigits, "a thread a digit");

/// counts: [rows][digits][tiles].
template <class U>
__global__ void __launch_bounds__(kRadixBlock)
    radix_count(uint32_t* counts, const U* keys, uint32_t size, int shift) {
  TAPER_SHARED(unsigned, found, [kRadixDigits]);
  found[threadIdx.x] = 0;
  __syncthreads();  // the counts are 0
  const U* const row = keys + int64_t{blockIdx.y} * size;
  const uint32_t begin = blockIdx.x * kRadixTile;
#pragma unroll
  for (int j = 0; j < kRadixEach; ++j) {
    const uint32_t i = begin + j * kRadixBlock + threadIdx.x;
    if (i < size) atomicAdd(&found[row[i] >> shift & (kRadixDigits - 1)], 1u);
  }
  __syncthreads();  // all keys are counted
  counts[(int64_t{blockIdx.y} * kRadixDigits + threadIdx.x) * gridDim.x + blockIdx.x] =
      found[threadIdx.x];
}

/// A warp for each digit of each row (blockIdx.y): the sums of the earlier tiles in place of the
/// counts, and the sum of all in totals, [rows][digits].
template <class Count>
__global__ void __launch_bounds__(kRadixBlock)
    radix_offsets(Count* counts, Count* totals, uint32_t tiles) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const int64_t digit =
      int64_t{blockIdx.y} * kRadixDigits + (blockIdx.x * kRadixBlock + threadIdx.x) / kWarpSize;
  Count* const row = counts + digit * tiles;
  Count carry = 0;
  for (uint32_t begin = 0; begin < tiles; begin += kWarpSize) {
    const uint32_t i = begin + lane;
    const Count mine = i < tiles ? row[i] : 0;
    const Scanned<Count> lanes = scan_threads<kWarpSize>(mine, Count(0), AddFold());
    if (i < tiles) row[i] = carry + lanes.before;
    carry += lanes.total;
  }
  if (lane == 0) totals[digit] = carry;
}

/// `offsets` is null where a row has but one tile.
template <class U>
__global__ void __launch_bounds__(kRadixBlock)
    radix_scatter(U* out_keys, int32_t* out_payloads, const U* keys, const int32_t* payloads,
                  const uint32_t* offsets, const uint32_t* totals, uint32_t size, int shift) {
  constexpr int kWarps = kRadixBlock / kWarpSize;
  TAPER_SHARED(uint32_t, places, [kWarps][kRadixDigits]);
  const int digit_of_thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int w = 0; w < kWarps; ++w) places[w][digit_of_thread] = 0;
  __syncthreads();  // the counts are 0

  // A warp has neighbouring keys, a round of 32 after the other: in that order they are numbered.
  const int64_t row = int64_t{blockIdx.y} * size;
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const uint32_t first = blockIdx.x * kRadixTile + warp * (kWarpSize * kRadixEach) + lane;
  U key[kRadixEach];
  uint32_t number[kRadixEach];
#pragma unroll
  for (int j = 0; j < kRadixEach; ++j) {
    const uint32_t i = first + j * kWarpSize;
    key[j] = i < size ? keys[row + i] : static_cast<U>(0);
  }
#pragma unroll
  for (int j = 0; j < kRadixEach; ++j) {
    const bool there = first + j * kWarpSize < size;
    const unsigned digit = there ? static_cast<unsigned>(key[j] >> shift & (kRadixDigits - 1))
                                 : unsigned{kRadixDigits};
    const unsigned equal = __match_any_sync(kFullMask, digit);
    const unsigned below = __popc(equal & ((1u << lane) - 1));
    const uint32_t earlier = there ? places[warp][digit] : 0;
    number[j] = earlier + below;
    __syncwarp();  // all have read
    if (there && below == 0) places[warp][digit] = earlier + __popc(equal);
    __syncwarp();  // the next round reads what this one wrote
  }
  __syncthreads();  // every warp's counts are there

  const int64_t at = int64_t{blockIdx.y} * kRadixDigits + digit_of_thread;
  uint32_t place = scan_threads<kRadixBlock>(totals[at], 0u, AddFold()).before;
  if (offsets) place += offsets[at * gridDim.x + blockIdx.x];
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    const uint32_t found = places[w][digit_of_thread];
    places[w][digit_of_thread] = place;
    place += found;
  }
  __syncthreads();  // every warp and digit has its place
#pragma unroll
  for (int j = 0; j < kRadixEach; ++j) {
    if (first + j * kWarpSize >= size) continue;
    const int64_t to = row + places[warp][key[j] >> shift & (kRadixDigits - 1)] + number[j];
    out_keys[to] = key[j];
    out_payloads[to] = payloads[row + first + j * kWarpSize];
  }
}

}  // namespace taper::kernels::cuda
