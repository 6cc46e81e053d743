#include "taper/nn/modules/rnn_layer.h"

#include <algorithm>

#include "taper/core/ops.h"
#include "taper/nn/modules/rnn_fused.h"

namespace taper::nn::detail {

namespace {

/// Goes through time, forwards or backwards; `step(x)` gives the output at one step. Outputs are in
/// time's order.
template <class Step>
Tensor over_time(const Tensor& projected, bool reverse, const Step& step) {
  std::vector<Tensor> steps = projected.unbind(0);
  if (reverse) std::reverse(steps.begin(), steps.end());
  for (Tensor& one : steps) one = step(one);
  if (reverse) std::reverse(steps.begin(), steps.end());
  return stack(steps, 0);
}

}  // namespace

std::optional<Tensor> joint_bias(const LayerWeights& weights) {
  if (!weights.bias_ih.defined()) return std::nullopt;
  return weights.bias_ih + weights.bias_hh;
}

// In all three, the input's share of the gates depends on no state: all time steps at once.

LayerResult rnn_layer(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                      bool use_tanh, bool reverse) {
  const Tensor projected = linear(input, weights.ih, joint_bias(weights));
  const Tensor weight = weights.hh.t();
  Tensor hidden = state.hidden;
  const Tensor outputs = over_time(projected, reverse, [&](const Tensor& x) {
    const Tensor sum = x.addmm(hidden, weight);
    return hidden = use_tanh ? sum.tanh() : sum.relu();
  });
  return {outputs, {hidden, {}}};
}

LayerResult composed_lstm(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                          bool reverse) {
  const Tensor projected = linear(input, weights.ih, joint_bias(weights));
  const Tensor weight = weights.hh.t();
  LayerState now = state;
  const Tensor outputs = over_time(projected, reverse, [&](const Tensor& x) {
    now = lstm_step(x.addmm(now.hidden, weight), now.cell);
    return now.hidden;
  });
  return {outputs, now};
}

LayerResult composed_gru(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                         bool reverse) {
  // The reset gate multiplies the hidden share with its bias: the two biases stay apart.
  const Tensor projected = linear(input, weights.ih, bias_or_nothing(weights.bias_ih));
  Tensor hidden = state.hidden;
  const Tensor outputs = over_time(projected, reverse, [&](const Tensor& x) {
    const Tensor share = linear(hidden, weights.hh, bias_or_nothing(weights.bias_hh));
    return hidden = gru_step(x, share, hidden);
  });
  return {outputs, {hidden, {}}};
}

LayerResult lstm_layer(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                       bool reverse) {
  return can_fuse(input, state, weights, 4) ? fused_lstm(input, state, weights, reverse)
                                            : composed_lstm(input, state, weights, reverse);
}

LayerResult gru_layer(const Tensor& input, const LayerState& state, const LayerWeights& weights,
                      bool reverse) {
  return can_fuse(input, state, weights, 3) ? fused_gru(input, state, weights, reverse)
                                            : composed_gru(input, state, weights, reverse);
}

}  // namespace taper::nn::detail
