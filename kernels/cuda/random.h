#pragma once

#include <algorithm>

#include "taper/core/rng_state.h"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/kernels.h"

// How PyTorch counts random numbers on CUDA, so that a seed gives its numbers. Thread t of a grid
// draws from its own sequence of Philox, four words a call: call k is philox(seed, offset / 4 + k,
// t). Element t + threads * (k * n + i) is number i of n of that call. The grid has as many threads
// as fit the device at once, and no more than the elements need: which numbers a tensor gets
// depends on the card only where it has more elements than the card has threads.

namespace taper::kernels::cuda {

struct DrawPlan {
  unsigned threads;    ///< of PyTorch's grid, a multiple of 256
  uint64_t calls;      ///< each of its threads makes
  uint64_t increment;  ///< what they move the offset on by
};

/// `numbers`: how many a call makes, 4 of 32 bits or 2 of 64. `count` > 0.
inline DrawPlan plan_draws(int64_t count, int numbers, const DeviceProperties& device) {
  constexpr int64_t kBlock = 256;
  const int64_t most =
      int64_t{device.multi_processor_count} * (device.max_threads_per_multi_processor / kBlock);
  const int64_t threads = std::min(most, (count + kBlock - 1) / kBlock) * kBlock;
  const int64_t calls = (count - 1) / (threads * numbers) + 1;
  return {static_cast<unsigned>(threads), static_cast<uint64_t>(calls),
          static_cast<uint64_t>(calls) * 4};
}

/// Moves the generator on; returns the number of the first call, the old offset by four. The offset
/// stays a multiple of 4.
inline uint64_t take_draws(CudaRngState& state, uint64_t increment) {
  const uint64_t first = state.offset / 4;
  state.offset += (increment + 3) / 4 * 4;
  return first;
}

/// Calls run(first element, count, plan, first call) for the pieces in which PyTorch fills `count`
/// elements of `bytes` each: halves, until indices in bytes fit 32 bits. The whole is drawn for
/// first, and wasted.
template <class Run>
Status for_draw_pieces(CudaRngState& state, int64_t first, int64_t count, int64_t bytes,
                       int numbers, const DeviceProperties& device, const Run& run,
                       bool whole = true) {
  const auto fits = [&] { return 1 + (count - 1) * bytes <= INT32_MAX; };
  if (fits() || whole) {
    const DrawPlan plan = plan_draws(count, numbers, device);
    const uint64_t call = take_draws(state, plan.increment);
    if (fits()) return run(first, count, plan, call);
  }
  const int64_t half = count / 2;
  TAPER_TRY(for_draw_pieces(state, first, half, bytes, numbers, device, run, false));
  return for_draw_pieces(state, first + half, count - half, bytes, numbers, device, run, false);
}

// The families, by file. All answer unsupported() for dtypes they have not.
Status random_uniform(const RandomArgs& args, Stream stream);      // and Bernoulli
Status random_normal(const RandomArgs& args, Stream stream);       // and log-normal
Status random_transformed(const RandomArgs& args, Stream stream);  // exponential, Cauchy, geometric
Status random_integers(const RandomArgs& args, Stream stream);
Status random_permutation(const RandomArgs& args, Stream stream);

/// kRandomRange: what a permutation takes as keys.
Status random_keys(void* out, ScalarType dtype, int64_t count, int64_t from, int64_t to,
                   CudaRngState& state, const Stream& stream);

}  // namespace taper::kernels::cuda
