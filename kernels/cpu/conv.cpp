#include "taper/kernels/cpu/conv_plan.h"

// The entries of convolution: which way suits which geometry. Where Winograd gives a NaN, the
// plain definition decides which results are.

TAPER_CPU_BEGIN

Status conv_forward(void* out, const void* in, const void* weight, const void* bias, bool relu,
                    const ConvPlan& plan, Stream stream) {
  return for_floating(plan.dtype, [&](auto type) -> Status {
    using S = decltype(type);
    if constexpr (!std::is_same_v<S, double>) {
      if (suits_winograd(plan)) {
        bool nan = false;
        const Status status = winograd_forward(
            static_cast<S*>(out), static_cast<const S*>(in), static_cast<const S*>(weight),
            static_cast<const S*>(bias), relu, &nan, plan, stream);
        if (status.code != Code::kOk || !nan) return status;
      }
    }
    return columns_forward(static_cast<S*>(out), static_cast<const S*>(in),
                           static_cast<const S*>(weight), static_cast<const S*>(bias), relu, plan,
                           stream);
  });
}

Status conv_backward_data(void* grad_in, const void* grad_out, const void* weight,
                          const ConvPlan& plan, Stream stream) {
  return for_floating(plan.dtype, [&](auto type) -> Status {
    using S = decltype(type);
    if constexpr (!std::is_same_v<S, double>) {
      if (suits_winograd(plan)) {
        bool nan = false;
        const Status status =
            winograd_backward_data(static_cast<S*>(grad_in), static_cast<const S*>(grad_out),
                                   static_cast<const S*>(weight), &nan, plan, stream);
        if (status.code != Code::kOk || !nan) return status;
      }
    }
    return columns_backward_data(static_cast<S*>(grad_in), static_cast<const S*>(grad_out),
                                 static_cast<const S*>(weight), plan, stream);
  });
}

Status conv_backward_weight(void* grad_weight, void* grad_bias, const void* grad_out,
                            const void* in, const ConvPlan& plan, Stream stream) {
  return for_floating(plan.dtype, [&](auto type) -> Status {
    using S = decltype(type);
    if constexpr (!std::is_same_v<S, double>) {
      if (suits_winograd(plan)) {
        bool nan = false;
        const Status status = winograd_backward_weight(
            static_cast<S*>(grad_weight), static_cast<S*>(grad_bias),
            static_cast<const S*>(grad_out), static_cast<const S*>(in), &nan, plan, stream);
        if (status.code != Code::kOk || !nan) return status;
      }
    }
    return columns_backward_weight(static_cast<S*>(grad_weight), static_cast<S*>(grad_bias),
                                   static_cast<const S*>(grad_out), static_cast<const S*>(in), plan,
                                   stream);
  });
}

TAPER_CPU_END
