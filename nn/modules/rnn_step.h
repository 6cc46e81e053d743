#pragma once

#include "taper/core/tensor.h"

// One step through time of each kind of cell, from projections that are already there. Private to
// nn/modules.

namespace taper::nn::detail {

/// What a layer remembers from step to step, [batch, hidden]; only LSTM has a cell.
struct LayerState {
  Tensor hidden, cell;
};

/// `gates` [batch, 4 * hidden].
LayerState lstm_step(const Tensor& gates, const Tensor& cell);

/// `from_input` and `from_hidden` [batch, 3 * hidden], each with its bias.
Tensor gru_step(const Tensor& from_input, const Tensor& from_hidden, const Tensor& hidden);

}  // namespace taper::nn::detail
