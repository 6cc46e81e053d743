#pragma once

#include "taper/nn/modules/rnn_layer.h"

// A whole layer as one node of the tape, on the kernels for a cell's step. Private to nn/modules.

namespace taper::nn::detail {

/// Whether the operands are what the kernels take; all others are left to the composed form, and
/// so is the message where something does not fit. `gates` is 4 for LSTM, 3 for GRU.
bool can_fuse(const Tensor& input, const LayerState& state, const LayerWeights& weights,
              int64_t gates);

LayerResult fused_lstm(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                       bool reverse);
LayerResult fused_gru(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                      bool reverse);

}  // namespace taper::nn::detail
