#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/walk.cuh"
#include "taper/kernels/cuda/dnn.h"
#include "taper/kernels/cuda/dtypes.h"

// What follows a library's convolution: bias and relu, in place, in one pass.

namespace taper::kernels::cuda {

namespace {

constexpr int kThreads = 256;

/// A pack of neighbours lies within one plane. Indices count packs.
template <class T, int kPack>
__global__ void __launch_bounds__(kThreads)
    conv_bias_relu_in_packs(T* out, const T* bias, bool relu, Divider by_plane, Divider by_channels,
                            unsigned count) {
  using C = compute_t<T>;
  using Pack = Packet<T, kPack>;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    const uint32_t plane = by_plane.quotient(i);
    const uint32_t channel = plane - by_channels.quotient(plane) * by_channels.divisor;
    const C shift = bias ? widen(bias[channel]) : C(0);
    Pack pack = reinterpret_cast<const Pack*>(out)[i];
#pragma unroll
    for (int j = 0; j < kPack; ++j) {
      const C value = widen(pack.at[j]) + shift;
      pack.at[j] = narrow<T>(relu && value < C(0) ? C(0) : value);
    }
    reinterpret_cast<Pack*>(out)[i] = pack;
  }
}

template <class T, int kPack>
Status run(T* out, const T* bias, bool relu, const ConvPlan& p, const Stream& stream) {
  // Below 2^31: cuDNN has computed it.
  const int64_t plane = p.out_h * p.out_w / kPack, count = p.batch * p.out_channels * plane;
  const int most = 16 * properties_of(stream.device).multi_processor_count;
  const dim3 grid(std::min(ceil_div(count, kThreads), static_cast<unsigned>(most)));
  return launch(stream, conv_bias_relu_in_packs<T, kPack>, grid, dim3(kThreads), 0, out, bias, relu,
                Divider(static_cast<uint32_t>(plane)),
                Divider(static_cast<uint32_t>(p.out_channels)), static_cast<unsigned>(count));
}

}  // namespace

Status conv_epilogue(void* out, const void* bias, bool relu, const ConvPlan& p,
                     const Stream& stream) {
  if (!bias && !relu) return {};
  return for_floating(p.dtype, [&](auto type) {
    using T = decltype(type);
    constexpr int kPack = 16 / static_cast<int>(sizeof(T));
    T* const to = static_cast<T*>(out);
    const T* const shift = static_cast<const T*>(bias);
    const bool packed = p.out_h * p.out_w % kPack == 0 && aligned_16(to);
    return packed ? run<T, kPack>(to, shift, relu, p, stream)
                  : run<T, 1>(to, shift, relu, p, stream);
  });
}

}  // namespace taper::kernels::cuda
