#pragma once

#include "taper/kernels/cpu/gemm_blocked.h"
#include "taper/kernels/cpu/gemm_rows.h"

// Shared by the ways to convolve. All of them compute in T and read and write S (halves widened on
// the way).

TAPER_CPU_BEGIN

/// Multiply-adds of the plain definition.
inline int64_t conv_work(const ConvPlan& p) {
  return p.batch * p.out_channels * p.out_h * p.out_w * (p.in_channels / p.groups) * p.kernel_h *
         p.kernel_w;
}

/// Whether Winograd's F(2x2, 3x3) applies and pays.
inline bool suits_winograd(const ConvPlan& p) {
  const bool shape = p.kernel_h == 3 && p.kernel_w == 3 && p.stride_h == 1 && p.stride_w == 1 &&
                     p.dilation_h == 1 && p.dilation_w == 1 && p.groups == 1;
  return shape && p.dtype != kDouble && p.in_channels >= 16 && p.out_channels >= 16 &&
         p.out_h >= 2 && p.out_w >= 2;
}

// Convolution as a matrix product over columns of input patches: any stride, dilation, groups.
template <class S>
Status columns_forward(S* out, const S* in, const S* weight, const S* bias, bool relu,
                       const ConvPlan& plan, const Stream& stream);
template <class S>
Status columns_backward_data(S* grad_in, const S* grad_out, const S* weight, const ConvPlan& plan,
                             const Stream& stream);
template <class S>
Status columns_backward_weight(S* grad_weight, S* grad_bias, const S* grad_out, const S* in,
                               const ConvPlan& plan, const Stream& stream);

// Winograd's F(2x2, 3x3): 16 products where the definition has 36. See suits_winograd(). An
// infinity becomes NaN in its transforms, and a NaN reaches a whole tile: `nan` says whether there
// is any.
template <class S>
Status winograd_forward(S* out, const S* in, const S* weight, const S* bias, bool relu, bool* nan,
                        const ConvPlan& plan, const Stream& stream);
template <class S>
Status winograd_backward_data(S* grad_in, const S* grad_out, const S* weight, bool* nan,
                              const ConvPlan& plan, const Stream& stream);
template <class S>
Status winograd_backward_weight(S* grad_weight, S* grad_bias, const S* grad_out, const S* in,
                                bool* nan, const ConvPlan& plan, const Stream& stream);

TAPER_CPU_END
