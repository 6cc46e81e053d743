#include "taper/nn/modules/rnn_step.h"

#include "taper/core/ops.h"

namespace taper::nn::detail {

// c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c')
LayerState lstm_step(const Tensor& gates, const Tensor& cell) {
  const std::vector<Tensor> parts = gates.chunk(4, -1);
  const Tensor in = parts[0].sigmoid(), forget = parts[1].sigmoid();
  const Tensor next = (in * parts[2].tanh()).addcmul(forget, cell);
  return {parts[3].sigmoid() * next.tanh(), next};
}

// r = sigmoid(x_r + h_r), z = sigmoid(x_z + h_z), n = tanh(x_n + r h_n), h' = (1 - z) n + z h
Tensor gru_step(const Tensor& from_input, const Tensor& from_hidden, const Tensor& hidden) {
  const std::vector<Tensor> x = from_input.chunk(3, -1), h = from_hidden.chunk(3, -1);
  const Tensor reset = (x[0] + h[0]).sigmoid(), update = (x[1] + h[1]).sigmoid();
  const Tensor fresh = x[2].addcmul(reset, h[2]).tanh();
  return fresh.lerp(hidden, update);
}

}  // namespace taper::nn::detail
