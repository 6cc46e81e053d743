#include "taper/nn/modules/rnn_fused.h"

#include "taper/autograd/autograd.h"
#include "taper/autograd/grad_mode.h"
#include "taper/autograd/node.h"
#include "taper/core/cuda.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/kernels/backend.h"

// Per step, one product and one pass of the cell's kernel; whatever needs no state (the input's
// share of the gates, the gradients of input, weights and biases) is one product over all steps.

namespace taper::nn::detail {

namespace {

using autograd::Backward;
using kernels::RecurrentCellArgs;

// The node's inputs, in this order, and what it saves besides: activations, the hidden states that
// the steps began with, and the cell states (LSTM) or the new gate's share of the state (GRU).
enum Place { kInput, kIh, kBiasIh, kHh, kBiasHh, kHidden, kCell, kGates, kBefore, kOwn };

/// A dense tensor [time, ...] as the address of each step.
class Steps {
 public:
  explicit Steps(const Tensor& tensor)
      : data_(static_cast<char*>(tensor.data_ptr())),
        bytes_(tensor.numel() / tensor.size(0) * element_size(tensor.scalar_type())) {}
  void* operator[](int64_t t) const { return data_ + t * bytes_; }
  static void* of(const Tensor& tensor, int64_t t) {
    return tensor.defined() ? Steps(tensor)[t] : nullptr;
  }

 private:
  char* data_;
  int64_t bytes_;
};

/// out (+)= rows * matrix (+ bias), all of them dense but for the matrix, which may be transposed.
class Product {
 public:
  Product(const char* name, const Tensor& matrix, int64_t rows) : name_(name), matrix_(matrix) {
    const bool transposed = matrix.stride(1) != 1;
    plan_ = {};
    plan_.dtype = matrix.scalar_type();
    plan_.batch = 1;
    plan_.m = rows, plan_.n = matrix.size(1), plan_.k = matrix.size(0);
    plan_.lda = plan_.k;
    plan_.b = matrix.data_ptr();
    plan_.ldb = matrix.stride(transposed ? 1 : 0);
    plan_.b_transposed = transposed;
    plan_.ldc = plan_.n;
    plan_.alpha = 1;
    plan_.tf32 = matrix.is_cuda() && cuda::allow_tf32_matmul();
  }
  void run(void* out, const void* rows, bool add, const void* bias = nullptr) {
    plan_.c = out, plan_.a = rows, plan_.bias = bias;
    plan_.beta = add ? 1 : 0;
    const Device device = matrix_.device();
    kernels::check(kernels::kernels_for(device).gemm(plan_, kernels::stream_for(device)), name_);
  }

 private:
  const char* name_;
  Tensor matrix_;
  kernels::GemmPlan plan_;
};

/// hh as the right side of `state * hh^T`. From the third step on a copy pays, whose rows are
/// dense.
Tensor turned(const Tensor& hh, int64_t steps) {
  const Tensor right = hh.contiguous().t();
  return steps > 2 ? right.contiguous() : right;
}

void* data_or_null(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

/// The states that the steps began with, in time's order.
Tensor states_before(const Tensor& first, const Tensor& states, bool reverse) {
  const int64_t rest = states.size(0) - 1;
  const Tensor start = first.unsqueeze(0);
  return reverse ? cat({states.narrow(0, 1, rest), start})
                 : cat({start, states.narrow(0, 0, rest)});
}

/// The order of the steps: at(0) is the first one that is run.
struct Order {
  int64_t steps;
  bool reverse;
  int64_t at(int64_t i) const { return reverse ? steps - 1 - i : i; }
};

/// A gradient as the kernels take it; undefined where none came.
Tensor arrived(Backward& b, int output) {
  return b.has_grad_output(output) ? b.grad_output(output).contiguous() : Tensor();
}

/// Gradients of the input, of its weight and of a bias, from those of the gates over all steps.
void input_gradients(Backward& b, const Tensor& gates) {
  const int64_t time = gates.size(0), batch = gates.size(1);
  const Tensor flat = gates.view({time * batch, gates.size(2)});
  if (b.wants(kInput)) {
    const Tensor ih = b.saved(kIh);
    b.grad(kInput) = flat.mm(ih).view({time, batch, ih.size(1)});
  }
  if (b.wants(kIh)) {
    const Tensor input = b.saved(kInput);
    b.grad(kIh) = flat.t().mm(input.reshape({time * batch, input.size(2)}));
  }
  if (b.wants(kBiasIh)) b.grad(kBiasIh) = flat.sum(0);
}
void weight_gradient(Backward& b, const Tensor& gates, const Tensor& before) {
  const int64_t rows = gates.size(0) * gates.size(1);
  b.grad(kHh) = gates.view({rows, gates.size(2)}).t().mm(before.view({rows, before.size(2)}));
}

/// The gradients as the composed form has them, recorded: they can be differentiated again.
template <class Compose>
void composed_gradients(Backward& b, const Compose& compose) {
  Tensor in[kCell + 1];
  std::vector<Tensor> wanted;
  std::vector<int> places;
  for (int i = 0; i < b.input_count(); ++i) {
    if (!b.has_saved(i)) continue;
    in[i] = b.saved(i);
    if (!b.wants(i) || !in[i].requires_grad()) continue;
    // An alias: the gradient is to end here, not to go on through what this input was made of.
    in[i] = in[i].expand(in[i].sizes());
    wanted.push_back(in[i]);
    places.push_back(i);
  }
  const LayerResult result = compose(in[kInput], LayerState{in[kHidden], in[kCell]},
                                     LayerWeights{in[kIh], in[kHh], in[kBiasIh], in[kBiasHh]});
  const Tensor outputs[] = {result.outputs, result.last.hidden, result.last.cell};
  std::vector<Tensor> roots, gradients;
  for (int i = 0; i < b.output_count(); ++i) {
    if (!b.has_grad_output(i)) continue;
    roots.push_back(outputs[i]);
    gradients.push_back(b.grad_output(i));
  }
  const std::vector<Tensor> found = autograd::grad(roots, wanted, gradients, true, true, true);
  for (size_t k = 0; k < found.size(); ++k) b.grad(places[k]) = found[k];
}

void lstm_backward(Backward& b, bool reverse) {
  if (autograd::grad_enabled()) {
    return composed_gradients(
        b, [reverse](const auto&... in) { return composed_lstm(in..., reverse); });
  }
  constexpr const char* kName = "lstm backward";
  const Tensor gates = b.saved(kGates), cells = b.saved(kOwn), first = b.saved(kCell).contiguous();
  const int64_t time = cells.size(0), batch = cells.size(1), hidden = cells.size(2);
  const ScalarType dtype = cells.scalar_type();
  const RecurrentCellArgs args{dtype, batch, hidden};
  const auto& kernels = kernels::kernels_for(cells.device());
  const kernels::Stream stream = kernels::stream_for(cells.device());

  const Tensor grads = empty_like(gates);
  const Tensor grad_outputs = arrived(b, 0), grad_last = arrived(b, 1);
  const Tensor grad_hidden = empty({batch, hidden}, cells.options());
  const Tensor grad_cell = zeros(
      {batch, hidden}, cells.options().dtype(is_reduced_floating_point(dtype) ? kFloat : dtype));
  if (b.has_grad_output(2)) grad_cell.copy_(b.grad_output(2));

  Product product(kName, b.saved(kHh).contiguous(), batch);
  const Steps gate(gates), grad(grads), cell(cells);
  const Order order{time, reverse};
  const void* later = data_or_null(grad_last);
  for (int64_t i = time; i-- > 0;) {
    const int64_t t = order.at(i);
    kernels::check(kernels.lstm_cell_backward(
                       grad[t], grad_cell.data_ptr(), Steps::of(grad_outputs, t), later, gate[t],
                       cell[t], i == 0 ? first.data_ptr() : cell[order.at(i - 1)], args, stream),
                   kName);
    if (i == 0 && !b.wants(kHidden)) break;
    product.run(grad_hidden.data_ptr(), grad[t], false);
    later = grad_hidden.data_ptr();
  }
  if (b.wants(kHidden)) b.grad(kHidden) = grad_hidden;
  if (b.wants(kCell)) b.grad(kCell) = grad_cell;
  input_gradients(b, grads);
  if (b.wants(kHh)) weight_gradient(b, grads, b.saved(kBefore));
  if (b.wants(kBiasHh)) b.grad(kBiasHh) = b.wants(kBiasIh) ? b.grad(kBiasIh) : grads.sum({0, 1});
}

void gru_backward(Backward& b, bool reverse) {
  if (autograd::grad_enabled()) {
    return composed_gradients(
        b, [reverse](const auto&... in) { return composed_gru(in..., reverse); });
  }
  constexpr const char* kName = "gru backward";
  const Tensor gates = b.saved(kGates), before = b.saved(kBefore), own = b.saved(kOwn);
  const int64_t time = before.size(0), batch = before.size(1), hidden = before.size(2);
  const RecurrentCellArgs args{before.scalar_type(), batch, hidden};
  const auto& kernels = kernels::kernels_for(before.device());
  const kernels::Stream stream = kernels::stream_for(before.device());

  const Tensor of_input = empty_like(gates), of_hidden = empty_like(gates);
  const Tensor grad_outputs = arrived(b, 0);
  const Tensor grad_hidden = zeros({batch, hidden}, before.options());
  if (b.has_grad_output(1)) grad_hidden.copy_(b.grad_output(1));

  Product product(kName, b.saved(kHh).contiguous(), batch);
  const Steps gate(gates), state(before), kept(own), input(of_input), share(of_hidden);
  const Order order{time, reverse};
  for (int64_t i = time; i-- > 0;) {
    const int64_t t = order.at(i);
    kernels::check(kernels.gru_cell_backward(input[t], share[t], grad_hidden.data_ptr(),
                                             Steps::of(grad_outputs, t), gate[t], kept[t], state[t],
                                             args, stream),
                   kName);
    if (i > 0 || b.wants(kHidden)) product.run(grad_hidden.data_ptr(), share[t], true);
  }
  if (b.wants(kHidden)) b.grad(kHidden) = grad_hidden;
  input_gradients(b, of_input);
  if (b.wants(kHh)) weight_gradient(b, of_hidden, before);
  if (b.wants(kBiasHh)) b.grad(kBiasHh) = of_hidden.sum({0, 1});
}

}  // namespace

bool can_fuse(const Tensor& input, const LayerState& state, const LayerWeights& weights,
              int64_t gates) {
  const int64_t hidden = weights.hh.dim() == 2 ? weights.hh.size(1) : 0;
  const auto fits = [&](const Tensor& tensor, IntArrayRef sizes) {
    return !tensor.defined() || (tensor.scalar_type() == input.scalar_type() &&
                                 tensor.device() == input.device() && tensor.sizes().equals(sizes));
  };
  const int64_t batch = input.size(1), rows = gates * hidden;
  return is_floating_point(input.scalar_type()) && input.numel() > 0 &&
         fits(weights.ih, {rows, input.size(2)}) && fits(weights.hh, {rows, hidden}) &&
         fits(weights.bias_ih, rows) && fits(weights.bias_hh, rows) &&
         fits(state.hidden, {batch, hidden}) && fits(state.cell, {batch, hidden});
}

LayerResult fused_lstm(const Tensor& input, const LayerState& state, const LayerWeights& w,
                       bool reverse) {
  constexpr const char* kName = "lstm";
  const bool tracked =
      autograd::recording(input, w.ih, w.bias_ih, w.hh, w.bias_hh, state.hidden, state.cell);
  const int64_t time = input.size(0), batch = input.size(1), hidden = w.hh.size(1);
  Tensor gates, outputs, cells, before;
  LayerState last;
  {
    const NoGradGuard no_grad;
    gates = linear(input, w.ih, joint_bias(w));
    outputs = empty({time, batch, hidden}, input.options());
    // Where no gradient will be asked for, one cell state is overwritten at every step.
    cells = empty({tracked ? time : 1, batch, hidden}, input.options());
    const Tensor first_hidden = state.hidden.contiguous(), first_cell = state.cell.contiguous();
    const RecurrentCellArgs args{input.scalar_type(), batch, hidden};
    const auto& kernels = kernels::kernels_for(input.device());
    const kernels::Stream stream = kernels::stream_for(input.device());
    Product product(kName, turned(w.hh, time), batch);
    const Steps gate(gates), out(outputs), cell(cells);
    const Order order{time, reverse};
    const void* hidden_before = first_hidden.data_ptr();
    const void* cell_before = first_cell.data_ptr();
    for (int64_t i = 0; i < time; ++i) {
      const int64_t t = order.at(i);
      product.run(gate[t], hidden_before, true);
      void* const next = cell[tracked ? t : 0];
      kernels::check(kernels.lstm_cell_forward(out[t], next, gate[t], cell_before, args, stream),
                     kName);
      hidden_before = out[t], cell_before = next;
    }
    const int64_t end = order.at(time - 1);
    last = {outputs.select(0, end).clone(), cells.select(0, tracked ? end : 0).clone()};
    if (tracked && w.hh.requires_grad()) before = states_before(first_hidden, outputs, reverse);
  }
  if (tracked) {
    autograd::record_all(
        autograd::inputs(outputs, last.hidden, last.cell), "LstmLayerBackward0",
        autograd::inputs(input, w.ih, w.bias_ih, w.hh, w.bias_hh, state.hidden, state.cell),
        autograd::saving(input, w.ih, w.bias_ih, w.hh, w.bias_hh, state.hidden, state.cell, gates,
                         before, cells),
        [reverse](Backward& b) { lstm_backward(b, reverse); });
  }
  return {outputs, last};
}

LayerResult fused_gru(const Tensor& input, const LayerState& state, const LayerWeights& w,
                      bool reverse) {
  constexpr const char* kName = "gru";
  const bool tracked = autograd::recording(input, w.ih, w.bias_ih, w.hh, w.bias_hh, state.hidden);
  const int64_t time = input.size(0), batch = input.size(1), hidden = w.hh.size(1);
  Tensor gates, outputs, own, before;
  LayerState last;
  {
    const NoGradGuard no_grad;
    gates = linear(input, w.ih, bias_or_nothing(w.bias_ih));
    outputs = empty({time, batch, hidden}, input.options());
    own = tracked ? empty_like(outputs) : Tensor();
    const Tensor first = state.hidden.contiguous();
    const Tensor bias = w.bias_hh.defined() ? w.bias_hh.contiguous() : Tensor();
    const Tensor share = empty({batch, 3 * hidden}, input.options());
    const RecurrentCellArgs args{input.scalar_type(), batch, hidden};
    const auto& kernels = kernels::kernels_for(input.device());
    const kernels::Stream stream = kernels::stream_for(input.device());
    Product product(kName, turned(w.hh, time), batch);
    const Steps gate(gates), out(outputs);
    const Order order{time, reverse};
    const void* hidden_before = first.data_ptr();
    for (int64_t i = 0; i < time; ++i) {
      const int64_t t = order.at(i);
      product.run(share.data_ptr(), hidden_before, false, data_or_null(bias));
      kernels::check(kernels.gru_cell_forward(out[t], gate[t], Steps::of(own, t), share.data_ptr(),
                                              hidden_before, args, stream),
                     kName);
      hidden_before = out[t];
    }
    last = {outputs.select(0, order.at(time - 1)).clone(), {}};
    if (tracked) before = states_before(first, outputs, reverse);
  }
  if (tracked) {
    autograd::record_all(
        autograd::inputs(outputs, last.hidden), "GruLayerBackward0",
        autograd::inputs(input, w.ih, w.bias_ih, w.hh, w.bias_hh, state.hidden, state.cell),
        autograd::saving(input, w.ih, w.bias_ih, w.hh, w.bias_hh, state.hidden, state.cell, gates,
                         before, own),
        [reverse](Backward& b) { gru_backward(b, reverse); });
  }
  return {outputs, last};
}

}  // namespace taper::nn::detail
