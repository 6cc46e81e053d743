#include "taper/nn/modules/rnn_step.h"

#include "taper/autograd/node.h"
#include "taper/core/ops.h"

namespace taper::nn::detail {

namespace {

// `parts` share memory with x and have no history of their own yet.
template <class Join>
std::vector<Tensor> record_parts(const char* name, const Tensor& x, std::vector<Tensor> parts,
                                 const Join& join) {
  for (Tensor& part : parts) part = part.detach();
  autograd::record_all(autograd::inputs(TensorList(parts)), name, autograd::inputs(x),
                       autograd::saving_nothing(), [join](autograd::Backward& b) {
                         std::vector<Tensor> gradients;
                         for (int i = 0; i < b.output_count(); ++i) {
                           gradients.push_back(b.grad_output(i));
                         }
                         b.grad(0) = join(gradients);
                       });
  return parts;
}

}  // namespace

std::vector<Tensor> gates_of(const Tensor& x, int64_t count) {
  if (!autograd::recording(x)) return x.chunk(count, -1);
  return record_parts("SplitBackward0", x, x.detach().chunk(count, -1),
                      [](const std::vector<Tensor>& gradients) { return cat(gradients, -1); });
}

std::vector<Tensor> steps_of(const Tensor& x) {
  if (!autograd::recording(x)) return x.unbind(0);
  return record_parts("UnbindBackward0", x, x.detach().unbind(0),
                      [](const std::vector<Tensor>& gradients) { return stack(gradients, 0); });
}

// c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c')
LayerState lstm_step(const Tensor& gates, const Tensor& cell) {
  const std::vector<Tensor> parts = gates_of(gates, 4);
  const Tensor in = parts[0].sigmoid(), forget = parts[1].sigmoid();
  const Tensor next = (in * parts[2].tanh()).addcmul(forget, cell);
  return {parts[3].sigmoid() * next.tanh(), next};
}

// r = sigmoid(x_r + h_r), z = sigmoid(x_z + h_z), n = tanh(x_n + r h_n), h' = (1 - z) n + z h
Tensor gru_step(const Tensor& from_input, const Tensor& from_hidden, const Tensor& hidden) {
  const std::vector<Tensor> x = gates_of(from_input, 3), h = gates_of(from_hidden, 3);
  const Tensor reset = (x[0] + h[0]).sigmoid(), update = (x[1] + h[1]).sigmoid();
  const Tensor fresh = x[2].addcmul(reset, h[2]).tanh();
  return fresh.lerp(hidden, update);
}

}  // namespace taper::nn::detail
