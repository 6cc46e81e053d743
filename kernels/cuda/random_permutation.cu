#include <cmath>

#include "taper/kernels/cuda/device/row.cuh"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/random.h"
#include "taper/kernels/functors/philox.h"

// A permutation: 0, 1, ... sorted by random keys, as PyTorch does it. Keys are cut to so many bits
// that with a probability of 0.9 all are different; where some are equal, those elements are then
// shuffled among themselves.

namespace taper::kernels::cuda {

namespace {

template <class Key>
__global__ void __launch_bounds__(kRowBlock)
    permutation_cut_keys(Key* keys, int64_t count, Key mask) {
  const int64_t i = int64_t{blockIdx.x} * kRowBlock + threadIdx.x;
  if (i < count) keys[i] &= mask;
}

template <class T>
__global__ void __launch_bounds__(kRowBlock)
    permutation_store(T* out, const int64_t* order, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * kRowBlock + threadIdx.x;
  if (i >= count) return;
  if constexpr (std::is_integral_v<T>) {
    out[i] = static_cast<T>(order[i]);
  } else {
    out[i] = narrow<T>(static_cast<compute_t<T>>(order[i]));
  }
}

/// Thread i shuffles the run of equal keys that begins at i, if one does (Fisher and Yates), with
/// the words of its own sequence. Runs are short: two keys, seldom three.
template <class T, class Key>
__global__ void __launch_bounds__(kRowBlock)
    permutation_shuffle_runs(T* out, const Key* keys, int64_t count, uint64_t seed,
                             uint64_t first_call) {
  const int64_t i = int64_t{blockIdx.x} * kRowBlock + threadIdx.x;
  if (i >= count - 1 || keys[i] != keys[i + 1] || (i > 0 && keys[i] == keys[i - 1])) return;
  int size = 2;
  while (i + size < count && keys[i + size] == keys[i]) ++size;
  T* const run = out + i;
  functors::Words4 words{};
  for (int last = size - 1, drawn = 0; last > 0; --last, ++drawn) {
    if (drawn % 4 == 0) {
      words = functors::philox(seed, first_call + static_cast<uint64_t>(drawn / 4),
                               static_cast<uint64_t>(i));
    }
    const int other = static_cast<int>(words.word[drawn % 4] % static_cast<unsigned>(last + 1));
    const T moved = run[last];
    run[last] = run[other];
    run[other] = moved;
  }
}

template <class Key>
Status permute(const RandomArgs& args, ScalarType key_dtype, int bits, const Stream& stream) {
  using Limits = std::numeric_limits<Key>;
  const int64_t count = args.numel;
  const unsigned blocks = ceil_div(count, kRowBlock);
  CudaRngState& state = *static_cast<CudaRngState*>(args.generator);
  Scratch<Key> keys(stream, count), sorted(stream, count);
  TAPER_TRY(keys.status());
  TAPER_TRY(sorted.status());
  Scratch<int64_t> order(stream, count);
  TAPER_TRY(order.status());
  TAPER_TRY(random_keys(keys.get(), key_dtype, count, Limits::min(), Limits::max(), state, stream));
  if (bits < 8 * static_cast<int>(sizeof(Key))) {
    TAPER_TRY(launch(stream, permutation_cut_keys<Key>, blocks, kRowBlock, 0, keys.get(), count,
                     (uint64_t{1} << bits) - 1));
  }
  TAPER_TRY(sort({.dtype = key_dtype,
                  .axis = {1, count, 1},
                  .k = count,
                  .descending = false,
                  .stable = true,
                  .values = sorted.get(),
                  .indices = order.get(),
                  .in = keys.get()},
                 stream));
  const uint64_t first_call = take_draws(state, static_cast<uint64_t>(count));
  return for_dtypes<float, double, __half, __nv_bfloat16, int64_t, int32_t, int16_t, int8_t,
                    uint8_t>(args.dtype, [&]<class T>(T) {
    T* const out = static_cast<T*>(args.out);
    TAPER_TRY(launch(stream, permutation_store<T>, blocks, kRowBlock, 0, out, order.get(), count));
    return launch(stream, permutation_shuffle_runs<T, Key>, blocks, kRowBlock, 0, out, sorted.get(),
                  count, state.seed, first_call);
  });
}

}  // namespace

Status random_permutation(const RandomArgs& args, Stream stream) {
  const double n = static_cast<double>(args.numel);
  const double needed = std::ceil(std::log2(n - (6 * n * n + 1) / (12 * std::log(0.9))));
  const int bits = needed < 64 ? static_cast<int>(needed) : 64;
  return bits <= 32 ? permute<int32_t>(args, kInt, bits, stream)
                    : permute<int64_t>(args, kLong, bits, stream);
}

}  // namespace taper::kernels::cuda
