#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/random_fill.h"

// Numbers that are a function of one uniform number: exponential, Cauchy, geometric.

namespace taper::kernels::cuda {

namespace {

// A card's fast functions for float, as in PyTorch.
__device__ __forceinline__ float fast_log(float x) { return __logf(x); }
__device__ __forceinline__ double fast_log(double x) { return ::log(x); }
__device__ __forceinline__ float fast_tan(float x) { return __tanf(x); }
__device__ __forceinline__ double fast_tan(double x) { return ::tan(x); }

template <class C>
constexpr C kEpsilon = std::is_same_v<C, double> ? C(0x1p-52) : C(0x1p-23);

template <class T>
struct ExponentialMap {
  using C = compute_t<T>;
  C rate;
  __device__ __forceinline__ T operator()(C x) const {
    // Never 0, which log would give for 1 and next to it.
    const C least = kEpsilon<C> / 2;
    const C log = x >= 1 - least ? -least : fast_log(x);
    return narrow<T>(C(-1) / rate * log);
  }
};

template <class T>
struct CauchyMap {
  using C = compute_t<T>;
  C median, scale;
  __device__ __forceinline__ T operator()(C x) const {
    if constexpr (!std::is_same_v<C, double>) {
      // The fast tangent overflows at the ends.
      x = functors::min(functors::max(x, kEpsilon<C>), 1 - kEpsilon<C>);
    }
    constexpr C kPi = C(3.14159265358979323846);
    return narrow<T>(fused_multiply_add(scale, fast_tan(kPi * (x - C(0.5))), median));
  }
};

// A card has no fast log1p.
__device__ __forceinline__ float log_of_failure(float p) { return __logf(1.0f - p); }
__device__ __forceinline__ double log_of_failure(double p) { return ::log1p(-p); }

/// At least 1, unlike in PyTorch, where x = 1 gives 0.
template <class T, class C>
struct GeometricMap {
  C p;
  __device__ __forceinline__ T operator()(C x) const {
    const C trials = functors::max(functors::ceil(fast_log(x) / log_of_failure(p)), C(1));
    if constexpr (std::is_integral_v<T>) {
      // Through int64, kept in its range: a narrow dtype takes the low bits.
      return static_cast<T>(static_cast<int64_t>(functors::min(trials, C(0x1p62))));
    } else {
      return narrow<T>(trials);
    }
  }
};

}  // namespace

Status random_transformed(const RandomArgs& args, Stream stream) {
  const double p0 = args.p[0].d, p1 = args.p[1].d;
  if (args.op == RandomOp::kGeometric) {
    return for_dtypes<float, double, __half, __nv_bfloat16, int64_t, int32_t, int16_t, int8_t,
                      uint8_t>(args.dtype, [&]<class T>(T) {
      using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
      return fill_random<UniformFor<T>, T>(args, GeometricMap<T, C>{static_cast<C>(p0)}, stream);
    });
  }
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    if (args.op == RandomOp::kExponential) {
      return fill_random<UniformFor<T>, T>(args, ExponentialMap<T>{static_cast<C>(p0)}, stream);
    }
    return fill_random<UniformFor<T>, T>(args, CauchyMap<T>{static_cast<C>(p0), static_cast<C>(p1)},
                                         stream);
  });
}

}  // namespace taper::kernels::cuda
