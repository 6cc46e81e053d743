#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/random_fill.h"

// Uniform numbers, and coins.

namespace taper::kernels::cuda {

namespace {

/// From (0, 1] to [from, to): the excluded bound, met by rounding too, becomes the included one.
template <class T>
struct UniformMap {
  using C = compute_t<T>;
  C from, to, range;
  __device__ __forceinline__ T operator()(C x) const {
    const T value = narrow<T>(fused_multiply_add(x, range, from));
    return widen(value) == to ? narrow<T>(from) : value;
  }
};

template <class T>
struct BernoulliMap {
  compute_t<T> p;
  __device__ __forceinline__ T operator()(compute_t<T> x) const {
    return narrow<T>(compute_t<T>(x < p));
  }
};
/// Integers and bool of a size have one kernel: 0 and 1 have the same bits in all of them.
template <class T>
struct BernoulliBits {
  float p;
  __device__ __forceinline__ T operator()(float x) const { return static_cast<T>(x < p); }
};

/// Compared with a number x in (0, 1]: x < p. What is certain is so for x = 1 too, unlike in
/// PyTorch.
double certain(double p) { return p >= 1 ? 2 : p; }

struct Probabilities {
  const void* p;
  ScalarType dtype;
  DeviceFault* fault;
  const char* message;

  __device__ __forceinline__ double at(int64_t i) const {
    switch (dtype) {
      case ScalarType::Half:
        return static_cast<double>(widen(static_cast<const __half*>(p)[i]));
      case ScalarType::BFloat16:
        return static_cast<double>(widen(static_cast<const __nv_bfloat16*>(p)[i]));
      case ScalarType::Float:
        return static_cast<double>(static_cast<const float*>(p)[i]);
      default:
        return static_cast<const double*>(p)[i];
    }
  }
};

/// A probability per element, four elements a thread. Here PyTorch's grid has a thread for every
/// four neighbours, and compares with <=.
template <class T, class C>
__global__ void __launch_bounds__(kRandomBlock)
    random_bernoulli_each(T* out, int64_t count, Probabilities probabilities, uint64_t seed,
                          uint64_t call) {
  const int64_t thread = int64_t{blockIdx.x} * kRandomBlock + threadIdx.x, at = thread * 4;
  if (at >= count) return;
  const functors::Words4 words = functors::philox(seed, call, static_cast<uint64_t>(thread));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (at + i >= count) continue;
    const double p = probabilities.at(at + i);
    if (!(p >= 0 && p <= 1)) {
      report_fault(probabilities.fault, probabilities.message, 0, kNotAnIndex);
      continue;
    }
    const C x = functors::uniform_of_word(words.word[i]);
    out[at + i] = static_cast<T>(static_cast<float>(x <= static_cast<C>(p)));
  }
}

template <class T, class C>
Status bernoulli_each(const RandomArgs& args, const Stream& stream) {
  CudaRngState& state = *static_cast<CudaRngState*>(args.generator);
  const uint64_t call = take_draws(state, 10);
  return launch(stream, random_bernoulli_each<T, C>, ceil_div(args.numel, 4 * kRandomBlock),
                kRandomBlock, 0, static_cast<T*>(args.out), args.numel,
                Probabilities{args.probabilities, args.probabilities_dtype, fault_of(stream),
                              "bernoulli: a probability outside [0, 1]"},
                state.seed, call);
}

Status random_bernoulli(const RandomArgs& args, const Stream& stream) {
  if (is_floating_point(args.dtype)) {
    return for_floating(args.dtype, [&]<class T>(T) {
      using C = compute_t<T>;
      if (args.probabilities) return bernoulli_each<T, C>(args, stream);
      return fill_random<UniformFor<T>, T>(
          args, BernoulliMap<T>{static_cast<C>(certain(args.p[0].d))}, stream);
    });
  }
  return for_size(args.dtype, [&]<class T>(T) {
    if (args.probabilities) return bernoulli_each<T, float>(args, stream);
    return fill_random<DrawUniform, T>(
        args, BernoulliBits<T>{static_cast<float>(certain(args.p[0].d))}, stream);
  });
}

}  // namespace

Status random_uniform(const RandomArgs& args, Stream stream) {
  if (args.op == RandomOp::kBernoulli) return random_bernoulli(args, stream);
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    // The bounds and their distance are numbers of the dtype.
    const C from = stored<T>(args.p[0].d), to = stored<T>(args.p[1].d);
    return fill_random<UniformFor<T>, T>(args, UniformMap<T>{from, to, stored<T>(to - from)},
                                         stream);
  });
}

}  // namespace taper::kernels::cuda
