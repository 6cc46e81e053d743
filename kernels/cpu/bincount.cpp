#include "taper/kernels/cpu/index.h"

TAPER_CPU_BEGIN

// Serial: the order of additions to a bin is that of the input, whatever the number of threads.
// Without weights counts are int64; with them they are double, but float for float weights.
Status bincount(void* counts, const int64_t* in, const void* weights, ScalarType weight_dtype,
                int64_t numel, int64_t bins, Stream) {
  const Status status = check_indices(in, numel, 1, {bins, false});
  if (!status.ok()) return status;
  if (weights == nullptr) {
    int64_t* const out = static_cast<int64_t*>(counts);
    for (int64_t i = 0; i < numel; ++i) ++out[in[i]];
    return {};
  }
  return for_any(weight_dtype, [&]<class T>(T) {
    using Sum = std::conditional_t<std::is_same_v<T, float>, float, double>;
    Sum* const out = static_cast<Sum*>(counts);
    const T* const weight = static_cast<const T*>(weights);
    for (int64_t i = 0; i < numel; ++i) out[in[i]] += static_cast<Sum>(weight[i]);
    return Status{};
  });
}

TAPER_CPU_END
