#include "taper/kernels/cpu/random.h"

TAPER_CPU_BEGIN

namespace {

// PyTorch's mask holds 1 / (1 - p) in the tensor's dtype.
template <class T>
T kept_scale(double p) {
  if constexpr (std::is_same_v<T, double>)
    return 1 / (1 - p);
  else
    return static_cast<T>(1 / static_cast<float>(1 - p));
}

// out[i] = mask[i] ? in[i] * scale : in[i] * 0, in T's arithmetic.
template <class T>
TAPER_INLINE void apply_mask(T* out, const T* in, const uint8_t* mask, int64_t count, T scale) {
  using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Number kept = scale;
  for (int64_t i = 0; i < count; ++i) {
    const Number factor = mask[i] ? kept : Number(0);
    out[i] = static_cast<T>(static_cast<Number>(in[i]) * factor);
  }
}

}  // namespace

Status dropout_forward(void* out, uint8_t* mask, const void* in, ScalarType dtype, int64_t numel,
                       double p, void* generator, Stream) {
  CpuRngState& state = *static_cast<CpuRngState*>(generator);
  // With p = 1 PyTorch multiplies by zero and draws nothing.
  const int64_t threshold = p == 1 ? 0 : bernoulli_threshold(1 - p);
  return for_floating(dtype, [&]<class T>(T) {
    const T scale = p == 1 ? T(0.f) : kept_scale<T>(p);
    for (int64_t done = 0; done < numel; done += kRandomChunk) {
      const int64_t n = std::min(kRandomChunk, numel - done);
      if (p == 1) {
        std::fill_n(mask + done, n, uint8_t{0});
      } else {
        draw_bernoulli(state, mask + done, n, threshold);
      }
      apply_mask(static_cast<T*>(out) + done, static_cast<const T*>(in) + done, mask + done, n,
                 scale);
    }
    return Status{};
  });
}

Status dropout_backward(void* grad_in, const void* grad_out, const uint8_t* mask, ScalarType dtype,
                        int64_t numel, double p, Stream stream) {
  return for_floating(dtype, [&]<class T>(T) {
    const T scale = p == 1 ? T(0.f) : kept_scale<T>(p);
    parallel_for(stream, numel, 32768, [&](int64_t begin, int64_t end) {
      apply_mask(static_cast<T*>(grad_in) + begin, static_cast<const T*>(grad_out) + begin,
                 mask + begin, end - begin, scale);
    });
    return Status{};
  });
}

TAPER_CPU_END
