#pragma once

#include "taper/kernels/kernels.h"

// Taper's own convolution.

namespace taper::kernels::cuda {

// What the table's entries do where cuDNN does not serve.
Status own_conv_forward(void* out, const void* in, const void* weight, const void* bias, bool relu,
                        const ConvPlan& plan, const Stream& stream);
Status own_conv_backward_data(void* grad_in, const void* grad_out, const void* weight,
                              const ConvPlan& plan, const Stream& stream);
Status own_conv_backward_weight(void* grad_weight, void* grad_bias, const void* grad_out,
                                const void* in, const ConvPlan& plan, const Stream& stream);

/// The operands of one of the three products; what is not in it is null.
struct ConvArgs {
  void* to;            ///< out, grad_in or grad_weight
  const void* image;   ///< in (forward, weight)
  const void* grad;    ///< grad_out (data, weight)
  const void* weight;  ///< (forward, data)
  const void* bias;    ///< forward
  bool relu;           ///< forward
  const ConvPlan* plan;
};
enum class ConvPass { kForward, kData, kWeight };

// As products in tiles; up to 2^31 columns or depth.
Status conv_float(ConvPass pass, const ConvArgs& args, const Stream& stream);
Status conv_double(ConvPass pass, const ConvArgs& args, const Stream& stream);
Status conv_half(ConvPass pass, const ConvArgs& args, const Stream& stream);
Status conv_bfloat16(ConvPass pass, const ConvArgs& args, const Stream& stream);

/// As the definition has it, a thread or a block per result: for groups of so few channels that a
/// tile would be empty but for a few rows (depthwise convolution).
Status conv_direct(ConvPass pass, const ConvArgs& args, const Stream& stream);

}  // namespace taper::kernels::cuda
