#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/random_fill.h"

// Normal and log-normal numbers.

namespace taper::kernels::cuda {

namespace {

template <class T>
struct NormalMap {
  using C = compute_t<T>;
  C mean, std;
  bool exponential;
  __device__ __forceinline__ T operator()(C x) const {
    const C normal = fused_multiply_add(x, std, mean);
    return narrow<T>(exponential ? fast_exp(normal) : normal);
  }
  // PyTorch's: the fast one of a card for float, which is accurate to some 22 bits.
  static __device__ __forceinline__ float fast_exp(float x) { return __expf(x); }
  static __device__ __forceinline__ double fast_exp(double x) { return ::exp(x); }
};

}  // namespace

Status random_normal(const RandomArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    const NormalMap<T> map{static_cast<C>(args.p[0].d), static_cast<C>(args.p[1].d),
                           args.op == RandomOp::kLogNormal};
    return fill_random<NormalFor<T>, T>(args, map, stream);
  });
}

}  // namespace taper::kernels::cuda
