#pragma once

#include "taper/nn/modules/rnn_step.h"

// One layer of a recurrent network, in one direction, over all time steps. Private to nn/modules.

namespace taper::nn::detail {

/// Biases are undefined where there are none.
struct LayerWeights {
  Tensor ih, hh, bias_ih, bias_hh;
};

struct LayerResult {
  Tensor outputs;  ///< [time, batch, hidden], in time's order
  LayerState last;
};

/// Input [time, batch, input]. `reverse` goes through time backwards.
LayerResult rnn_layer(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                      bool use_tanh, bool reverse);
/// LSTM and GRU have two forms. The fused one (rnn_fused.h) is a single node; the composed one, of
/// public ops, is its second derivative and serves where the fused one does not apply.
LayerResult lstm_layer(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                       bool reverse);
LayerResult gru_layer(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                      bool reverse);

LayerResult composed_lstm(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                          bool reverse);
LayerResult composed_gru(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                         bool reverse);

/// The sum of both biases, for cells that only see their sum; nothing where there are none.
std::optional<Tensor> joint_bias(const LayerWeights& weights);
inline std::optional<Tensor> bias_or_nothing(const Tensor& bias) {
  return bias.defined() ? std::optional<Tensor>(bias) : std::nullopt;
}

}  // namespace taper::nn::detail
