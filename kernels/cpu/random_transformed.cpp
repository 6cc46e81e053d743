#include "taper/kernels/cpu/fused.h"
#include "taper/kernels/cpu/random_scalar.h"

TAPER_CPU_BEGIN

namespace {

template <class T, class Sample>
Status fill_each(const RandomArgs& args, const Sample& sample) {
  T* const out = static_cast<T*>(args.out);
  for (int64_t i = 0; i < args.numel; ++i) {
    if constexpr (std::is_integral_v<T>) {
      // Through int64, kept in its range: a narrow dtype takes the low bits.
      out[i] = static_cast<T>(static_cast<int64_t>(std::min(sample(), 0x1p62)));
    } else {
      out[i] = static_cast<T>(sample());
    }
  }
  return {};
}

}  // namespace

Status random_transformed(const RandomArgs& args, CpuRngState& state) {
  const double p0 = args.p[0].d, p1 = args.p[1].d;
  if (args.op == RandomOp::kGeometric) {
    const double scale = std::log1p(-p0);
    return for_number(args.dtype, [&]<class T>(T) {
      return fill_each<T>(args, [&] { return std::ceil(std::log(draw_uniform(state)) / scale); });
    });
  }
  return for_floating(args.dtype, [&]<class T>(T) {
    switch (args.op) {
      case RandomOp::kExponential:
        return fill_each<T>(args, [&] { return -1 / p0 * std::log1p(-draw_uniform(state)); });
      case RandomOp::kCauchy:
        return fill_each<T>(args, [&] {
          return fused_multiply_add(p1, std::tan(kPi * (draw_uniform(state) - 0.5)), p0);
        });
      case RandomOp::kLogNormal:
        return fill_each<T>(
            args, [&] { return std::exp(fused_multiply_add(draw_normal(state), p1, p0)); });
      default:
        return unsupported();
    }
  });
}

TAPER_CPU_END
