#include <algorithm>

#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/radix_sort.h"

// Without weights bins are counted with atomics on integers, whose order does not matter. With
// weights the values are sorted first, so that each bin's weights are added in the same order each
// time.

namespace taper::kernels::cuda {

namespace {

constexpr int kBlock = 256;
constexpr int kSharedBins = 4096;  // 16 KiB: eight blocks fit into a multiprocessor
/// Weights of a bin, on average, that are worth a block rather than a warp.
constexpr int64_t kWeightsOfBlock = 256;

/// Each block counts for itself, then adds what it has found.
__global__ void __launch_bounds__(kBlock)
    count_in_shared(unsigned long long* counts, const int64_t* in, int64_t numel, int bins,
                    DeviceFault* fault, const char* op) {
  TAPER_DYNAMIC_SHARED(unsigned, found);
  for (int bin = threadIdx.x; bin < bins; bin += kBlock) found[bin] = 0;
  __syncthreads();  // the counts are 0
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < numel;
       i += int64_t{gridDim.x} * kBlock) {
    const int64_t value = in[i];
    if (value < 0 || value >= bins)
      report_fault(fault, op, value, bins);
    else
      atomicAdd(&found[value], 1u);
  }
  __syncthreads();  // all are counted
  for (int bin = threadIdx.x; bin < bins; bin += kBlock) {
    if (found[bin] != 0) atomicAdd(&counts[bin], static_cast<unsigned long long>(found[bin]));
  }
}

__global__ void __launch_bounds__(kBlock)
    count_in_memory(unsigned long long* counts, const int64_t* in, int64_t numel, int64_t bins,
                    DeviceFault* fault, const char* op) {
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < numel;
       i += int64_t{gridDim.x} * kBlock) {
    const int64_t value = in[i];
    if (value < 0 || value >= bins)
      report_fault(fault, op, value, bins);
    else
      atomicAdd(&counts[value], 1ull);
  }
}

/// What belongs to no bin comes after all bins.
__global__ void __launch_bounds__(kBlock)
    make_bin_keys(uint64_t* keys, int32_t* positions, const int64_t* in, int64_t numel,
                  int64_t bins, DeviceFault* fault, const char* op) {
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < numel;
       i += int64_t{gridDim.x} * kBlock) {
    const int64_t value = in[i];
    const bool fits = value >= 0 && value < bins;
    if (!fits) report_fault(fault, op, value, bins);
    keys[i] = static_cast<uint64_t>(fits ? value : bins);
    positions[i] = static_cast<int32_t>(i);
  }
}

/// The first of the sorted keys that is not less than `key`.
__device__ __forceinline__ int64_t lower_bound(const uint64_t* keys, int64_t count, uint64_t key) {
  int64_t begin = 0;
  while (count > 0) {
    const int64_t half = count / 2;
    if (keys[begin + half] < key) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

/// counts[bin] += the weights of a bin; its threads are a block (`by_block`) or a warp.
template <class T, class Sum>
__global__ void __launch_bounds__(kBlock)
    sum_bins(Sum* counts, const uint64_t* keys, const int32_t* positions, const T* weights,
             int64_t numel, int64_t bins, bool by_block) {
  const int threads = by_block ? kBlock : kWarpSize;
  const int64_t bin = (int64_t{blockIdx.x} * kBlock + threadIdx.x) / threads;
  const int thread = static_cast<int>(threadIdx.x) % threads;
  double sum = 0;
  int64_t begin = 0, end = 0;
  if (bin < bins) {
    begin = lower_bound(keys, numel, static_cast<uint64_t>(bin));
    end = begin + lower_bound(keys + begin, numel - begin, static_cast<uint64_t>(bin) + 1);
  }
  for (int64_t i = begin + thread; i < end; i += threads) {
    sum += static_cast<double>(widen(weights[positions[i]]));
  }
  sum = by_block ? block_reduce<kBlock>(sum, AddFold()) : warp_reduce(sum, AddFold());
  if (thread == 0 && begin < end) counts[bin] += static_cast<Sum>(sum);
}

Status add_weights(void* counts, const uint64_t* keys, const int32_t* positions,
                   const void* weights, ScalarType dtype, int64_t numel, int64_t bins,
                   const Stream& stream) {
  const bool by_block = numel / bins >= kWeightsOfBlock;
  const int64_t bins_of_block = by_block ? 1 : kBlock / kWarpSize;
  return for_number_or_byte(dtype, [&]<class T>(T) {
    using Sum = std::conditional_t<std::is_same_v<T, float>, float, double>;
    return launch(stream, sum_bins<T, Sum>, dim3(ceil_div(bins, bins_of_block)), dim3(kBlock), 0,
                  static_cast<Sum*>(counts), keys, positions, static_cast<const T*>(weights), numel,
                  bins, by_block);
  });
}

}  // namespace

Status bincount(void* counts, const int64_t* in, const void* weights, ScalarType weight_dtype,
                int64_t numel, int64_t bins, Stream stream) {
  if (numel == 0) return {};
  constexpr int64_t kMostAtOnce = int64_t{1} << 30;  // positions have 32 bits; and bounds scratch
  DeviceFault* const fault = fault_of(stream);
  const int64_t fill = 2048 / kBlock * properties_of(stream.device).multi_processor_count;
  const auto grid = [&](int64_t count) {
    return dim3(static_cast<unsigned>(std::min(fill, (count + kBlock - 1) / kBlock)));
  };
  if (!weights || bins == 0) {  // no bin: each value is a fault
    auto* const to = static_cast<unsigned long long*>(counts);
    if (bins <= kSharedBins) {
      return launch(stream, count_in_shared, grid(numel), dim3(kBlock),
                    static_cast<size_t>(bins) * sizeof(unsigned), to, in, numel, bins, fault,
                    stream.op);
    }
    return launch(stream, count_in_memory, grid(numel), dim3(kBlock), 0, to, in, numel, bins, fault,
                  stream.op);
  }
  int bits = 0;  // of the largest key, `bins`
  while (bits < 63 && bins >> bits != 0) ++bits;
  const int64_t at_once = std::min(numel, kMostAtOnce);
  RadixSorter<uint64_t> sorter(stream, 1, at_once);
  TAPER_TRY(sorter.status());
  for (int64_t begin = 0; begin < numel; begin += at_once) {
    const int64_t count = std::min(at_once, numel - begin);
    TAPER_TRY(launch(stream, make_bin_keys, grid(count), dim3(kBlock), 0, sorter.keys(),
                     sorter.payloads(), in + begin, count, bins, fault, stream.op));
    TAPER_TRY(sorter.sort(1, count, bits));
    TAPER_TRY(add_weights(counts, sorter.keys(), sorter.payloads(),
                          static_cast<const char*>(weights) +
                              begin * static_cast<int64_t>(element_size(weight_dtype)),
                          weight_dtype, count, bins, stream));
  }
  return {};
}

}  // namespace taper::kernels::cuda
