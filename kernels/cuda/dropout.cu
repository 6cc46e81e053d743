#include "taper/kernels/cuda/device/row.cuh"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/random.h"
#include "taper/kernels/functors/philox.h"

// Dropout with PyTorch's numbers: float ones for every dtype. Where the number of elements and the
// input's address allow packs, thread t of PyTorch's grid takes pack t and then every
// `threads`-th one, with a call for each four elements of it; else the elements are drawn for as in
// random.h.
//   dropout_packs     one thread here for one of that grid's
//   dropout_elements  one element at a time

namespace taper::kernels::cuda {

namespace {

constexpr int kDropoutBlock = 256;

struct DropoutDraw {
  uint64_t seed, first_call;
  unsigned threads;  ///< of PyTorch's grid
};

template <class C>
struct DropoutNumbers {
  C keep;     ///< probability; more than 1 where it is certain
  C scale;    ///< 1 / keep
  bool none;  ///< p = 1: zeros, even of infinities, and nothing is drawn, as in PyTorch
};

template <class T>
__device__ __forceinline__ compute_t<T> dropped(compute_t<T> x, bool kept,
                                                const DropoutNumbers<compute_t<T>>& numbers) {
  return numbers.none ? 0 : x * static_cast<compute_t<T>>(kept) * numbers.scale;
}

/// N elements a step, aligned as packs for `in`; for `out` and `mask` too where `packed`.
template <class T, int N>
__global__ void __launch_bounds__(kDropoutBlock)
    dropout_packs(T* out, uint8_t* mask, const T* in, int64_t count, DropoutDraw draw,
                  DropoutNumbers<compute_t<T>> numbers, bool packed) {
  using C = compute_t<T>;
  constexpr int kCalls = (N + 3) / 4;
  const unsigned thread = blockIdx.x * kDropoutBlock + threadIdx.x;
  uint64_t call = draw.first_call;
  for (int64_t at = int64_t{thread} * N; at < count; at += int64_t{draw.threads} * N) {
    C x[N];
    Packet<uint8_t, N> kept;
    load_pack<N>(x, in + at);
#pragma unroll
    for (int c = 0; c < kCalls; ++c, ++call) {
      const functors::Words4 words = functors::philox(draw.seed, call, thread);
#pragma unroll
      for (int i = 0; i < 4 && c * 4 + i < N; ++i) {
        const bool keep = functors::uniform_of_word(words.word[i]) < numbers.keep;
        kept.at[c * 4 + i] = keep;
        x[c * 4 + i] = dropped<T>(x[c * 4 + i], keep, numbers);
      }
    }
    if (packed) {
      store_pack<N>(out + at, x);
      *reinterpret_cast<Packet<uint8_t, N>*>(mask + at) = kept;
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        out[at + i] = narrow<T>(x[i]);
        mask[at + i] = kept.at[i];
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kDropoutBlock)
    dropout_elements(T* out, uint8_t* mask, const T* in, int64_t count, DropoutDraw draw,
                     DropoutNumbers<compute_t<T>> numbers) {
  const unsigned thread = blockIdx.x * kDropoutBlock + threadIdx.x;
  uint64_t call = draw.first_call;
  const int64_t step = draw.threads;
  for (int64_t first = thread; first < count; first += step * 4, ++call) {
    const functors::Words4 words = functors::philox(draw.seed, call, thread);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t at = first + step * i;
      if (at >= count) continue;
      const bool keep = functors::uniform_of_word(words.word[i]) < numbers.keep;
      out[at] = narrow<T>(dropped<T>(widen(in[at]), keep, numbers));
      mask[at] = keep;
    }
  }
}

/// grad_in = grad_out * mask * scale.
template <class T>
__global__ void __launch_bounds__(kDropoutBlock)
    dropout_backward_packs(T* grad_in, const T* grad_out, const uint8_t* mask, int64_t count,
                           DropoutNumbers<compute_t<T>> numbers, bool packed) {
  using C = compute_t<T>;
  constexpr int kWidth = kPackSize<T>;
  const int64_t thread = int64_t{blockIdx.x} * kDropoutBlock + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * kDropoutBlock;
  const int64_t whole = packed ? count / kWidth * kWidth : 0;
  for (int64_t at = thread * kWidth; at < whole; at += step * kWidth) {
    C g[kWidth];
    load_pack<kWidth>(g, grad_out + at);
    const auto kept = *reinterpret_cast<const Packet<uint8_t, kWidth>*>(mask + at);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) g[i] = dropped<T>(g[i], kept.at[i] != 0, numbers);
    store_pack<kWidth>(grad_in + at, g);
  }
  for (int64_t at = whole + thread; at < count; at += step) {
    grad_in[at] = narrow<T>(dropped<T>(widen(grad_out[at]), mask[at] != 0, numbers));
  }
}

template <class C>
DropoutNumbers<C> numbers_of(double p) {
  const C keep = static_cast<C>(1 - p);
  // What is certain is so for a number that rounded to 1 as well, unlike in PyTorch.
  return {p <= 0 ? C(2) : keep, static_cast<C>(1 / static_cast<double>(keep)), p == 1};
}

/// Elements in a pack as PyTorch sees it: at most 16 bytes, none left over.
template <class T>
int pack_of(const T* in, int64_t count) {
  int pack = kPackSize<T>;
  while (pack > 1 && (count % pack != 0 || !aligned_to(pack * sizeof(T), in))) pack /= 2;
  return pack;
}

template <class T, int N>
Status run_packs(T* out, uint8_t* mask, const T* in, int64_t count, const DropoutDraw& draw,
                 const DropoutNumbers<compute_t<T>>& numbers, const Stream& stream) {
  const bool packed = aligned_to(N * sizeof(T), out) && aligned_to(N, mask);
  return launch(stream, dropout_packs<T, N>, draw.threads / kDropoutBlock, kDropoutBlock, 0, out,
                mask, in, count, draw, numbers, packed);
}

template <class T>
Status dropout_dtype(T* out, uint8_t* mask, const T* in, int64_t count, double p,
                     CudaRngState& state, const Stream& stream) {
  const auto numbers = numbers_of<compute_t<T>>(p);
  const DrawPlan plan = plan_draws(count, 4, properties_of(stream.device));
  const uint64_t first_call = p == 1 ? 0 : take_draws(state, plan.increment);
  const DropoutDraw draw{state.seed, first_call, plan.threads};
  const int pack = pack_of(in, count);
  if constexpr (kPackSize<T> >= 8) {
    if (pack == 8) return run_packs<T, 8>(out, mask, in, count, draw, numbers, stream);
  }
  if constexpr (kPackSize<T> >= 4) {
    if (pack == 4) return run_packs<T, 4>(out, mask, in, count, draw, numbers, stream);
  }
  if (pack == 2) return run_packs<T, 2>(out, mask, in, count, draw, numbers, stream);
  return launch(stream, dropout_elements<T>, draw.threads / kDropoutBlock, kDropoutBlock, 0, out,
                mask, in, count, draw, numbers);
}

}  // namespace

Status dropout_forward(void* out, uint8_t* mask, const void* in, ScalarType dtype, int64_t numel,
                       double p, void* generator, Stream stream) {
  if (numel == 0) return {};
  return for_floating(dtype, [&]<class T>(T) {
    return dropout_dtype(static_cast<T*>(out), mask, static_cast<const T*>(in), numel, p,
                         *static_cast<CudaRngState*>(generator), stream);
  });
}

Status dropout_backward(void* grad_in, const void* grad_out, const uint8_t* mask, ScalarType dtype,
                        int64_t numel, double p, Stream stream) {
  if (numel == 0) return {};
  return for_floating(dtype, [&]<class T>(T) {
    const bool packed = aligned_16(grad_in, grad_out) && aligned_to(kPackSize<T>, mask);
    auto numbers = numbers_of<compute_t<T>>(p);
    numbers.scale = static_cast<compute_t<T>>(1 / (1 - p));
    return launch(stream, dropout_backward_packs<T>,
                  elementwise_blocks(packed ? numel / kPackSize<T> : numel, stream), kDropoutBlock,
                  0, static_cast<T*>(grad_in), static_cast<const T*>(grad_out), mask, numel,
                  numbers, packed);
  });
}

}  // namespace taper::kernels::cuda
