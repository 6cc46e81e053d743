#include "taper/kernels/cpu/var_mean.h"

TAPER_CPU_BEGIN

namespace {

// As in PyTorch, the divisor does not fall below 0: too few elements give 0 / 0 or m2 / 0.
template <class T>
void store_var_mean(void* const* outs, int64_t offset, int64_t stride, const Moments* acc,
                    int64_t count, int64_t reduced, double correction) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double divisor = std::max(0.0, static_cast<double>(reduced) - correction);
  const auto narrow = [](double x) { return T(static_cast<acc_t<T>>(x)); };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = offset + i * stride;
    if (outs[0]) static_cast<T*>(outs[0])[at] = narrow(reduced ? acc[i].m2 / divisor : kNan);
    if (outs[1]) static_cast<T*>(outs[1])[at] = narrow(reduced ? acc[i].mean : kNan);
  }
}

}  // namespace

Status var_mean(void* var, void* mean, const void* in, ScalarType dtype, double correction,
                const ReducePlan& plan, Stream stream) {
  return for_floating(dtype, [&](auto element) {
    using T = decltype(element);
    constexpr Reducer<T, Moments> kOp = moments_reducer<T>(store_var_mean<T>);
    void* const outs[] = {var, mean};
    return run_reduction(kOp, outs, static_cast<const T*>(in), plan, correction, stream);
  });
}

TAPER_CPU_END
