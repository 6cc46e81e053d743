#pragma once

#include <string>

#include "taper/kernels/cuda/conv.h"

// Convolutions by cuDNN, where it is there.

namespace taper::kernels::cuda {

/// Whether dnn_conv may be asked. If not, Taper's own kernels serve: TAPER_DNN=own, no cuDNN, or a
/// geometry that it cannot describe.
bool suits_dnn(const ConvPlan& plan);
/// One of the three products, without bias and relu. `served` is false, and nothing was done, where
/// cuDNN has no deterministic algorithm for it.
Status dnn_conv(ConvPass pass, const ConvArgs& args, const Stream& stream, bool* served);
/// Bias and relu (either may be missing) over a result.
Status conv_epilogue(void* out, const void* bias, bool relu, const ConvPlan& plan,
                     const Stream& stream);

/// As cuDNN writes it, 91900 being 9.19; 0 where there is none.
int dnn_version();
/// Why there is no cuDNN, or that TAPER_DNN has a value that nobody knows; else empty.
const std::string& dnn_problem();

}  // namespace taper::kernels::cuda
