#include "taper/nn/modules/rnn.h"

#include <cmath>
#include <ostream>

#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/nn/init.h"
#include "taper/nn/modules/rnn_layer.h"

namespace taper::nn {

namespace detail {

template <class Derived, class Options>
RNNImplBase<Derived, Options>::RNNImplBase(const Options& options, const char* name, int64_t gates)
    : options(options), name_(name), gates_(gates) {
  RNNImplBase::reset();
}

template <class Derived, class Options>
std::string RNNImplBase<Derived, Options>::weight_name(const char* kind, int64_t layer,
                                                       bool reverse) const {
  return std::string(kind) + "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
}

template <class Derived, class Options>
void RNNImplBase<Derived, Options>::reset() {
  TAPER_CHECK(
      options.dropout() >= 0 && options.dropout() <= 1,
      "dropout should be a number in range [0, 1] representing the probability of an element "
      "being zeroed");
  TAPER_CHECK(options.hidden_size() > 0, "hidden_size must be greater than zero");
  TAPER_CHECK(options.num_layers() > 0, "num_layers must be greater than zero");
  const int64_t hidden = options.hidden_size();
  for (int64_t layer = 0; layer < options.num_layers(); ++layer) {
    const int64_t in = layer == 0 ? options.input_size() : hidden * directions();
    for (const bool reverse : {false, true}) {
      if (reverse && !options.bidirectional()) continue;
      const auto add = [&](const char* kind, IntArrayRef sizes) {
        this->register_parameter(weight_name(kind, layer, reverse), taper::empty(sizes));
      };
      add("weight_ih", {gates_ * hidden, in});
      add("weight_hh", {gates_ * hidden, hidden});
      if (!options.bias()) continue;
      add("bias_ih", gates_ * hidden);
      add("bias_hh", gates_ * hidden);
    }
  }
  reset_parameters();
}

template <class Derived, class Options>
void RNNImplBase<Derived, Options>::reset_parameters() {
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.hidden_size()));
  for (const Tensor& parameter : this->parameters()) init::uniform_(parameter, -bound, bound);
}

template <class Derived, class Options>
std::vector<Tensor> RNNImplBase<Derived, Options>::all_weights() const {
  return this->parameters();
}

template <class Derived, class Options>
void RNNImplBase<Derived, Options>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::" << name_ << "(input_size=" << options.input_size()
         << ", hidden_size=" << options.hidden_size() << ", num_layers=" << options.num_layers()
         << ", bias=" << options.bias() << ", batch_first=" << options.batch_first()
         << ", dropout=" << options.dropout() << ", bidirectional=" << options.bidirectional()
         << ")";
}

template <class Derived, class Options>
auto RNNImplBase<Derived, Options>::checked_input(const Tensor& input) const -> Sequence {
  TAPER_CHECK(input.dim() == 2 || input.dim() == 3, name_, ": Expected input to be 2D or 3D, got ",
              input.dim(), "D instead");
  TAPER_CHECK(input.size(-1) == options.input_size(),
              "input.size(-1) must be equal to input_size. Expected ", options.input_size(),
              ", got ", input.size(-1));
  Sequence out;
  out.has_batch = input.dim() == 3;
  out.steps = !out.has_batch          ? input.unsqueeze(1)
              : options.batch_first() ? input.transpose(0, 1)
                                      : input;
  TAPER_CHECK(out.steps.size(0) > 0, "Expected sequence length to be larger than 0 in RNN");
  out.batch_size = out.steps.size(1);
  return out;
}

template <class Derived, class Options>
Tensor RNNImplBase<Derived, Options>::checked_state(const Tensor& given, const Sequence& input,
                                                    const char* what) const {
  const int64_t count = options.num_layers() * directions(), hidden = options.hidden_size();
  if (!given.defined()) {
    return zeros({count, input.batch_size, hidden}, input.steps.options());
  }
  TAPER_CHECK(given.dim() == (input.has_batch ? 3 : 2), "For ",
              input.has_batch ? "batched 3-D" : "unbatched 2-D",
              " input, hx and cx should also be ", input.has_batch ? 3 : 2, "-D but got ",
              given.dim(), "-D tensor");
  const Tensor state = input.has_batch ? given : given.unsqueeze(1);
  TAPER_CHECK(state.sizes().equals({count, input.batch_size, hidden}), "Expected ", what, " size (",
              count, ", ", input.batch_size, ", ", hidden, "), got ", given.sizes());
  return state;
}

template <class Derived, class Options>
template <class Run>
Tensor RNNImplBase<Derived, Options>::run_layers(Tensor input, const Run& run) const {
  const auto weight = [&](const char* kind, int64_t layer, bool reverse) -> const Tensor& {
    return this->parameters_[weight_name(kind, layer, reverse)];
  };
  for (int64_t layer = 0; layer < options.num_layers(); ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const bool reverse = direction == 1;
      LayerWeights weights{
          weight("weight_ih", layer, reverse), weight("weight_hh", layer, reverse), {}, {}};
      if (options.bias()) {
        weights.bias_ih = weight("bias_ih", layer, reverse);
        weights.bias_hh = weight("bias_hh", layer, reverse);
      }
      const auto at = static_cast<size_t>(layer * directions() + direction);
      outputs.push_back(run(at, input, weights, reverse));
    }
    input = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
    if (options.dropout() > 0 && layer + 1 < options.num_layers()) {
      input = dropout(input, options.dropout(), this->is_training());
    }
  }
  return input;
}

template <class Derived, class Options>
Tensor RNNImplBase<Derived, Options>::finish(Tensor output, const Sequence& input) const {
  if (!input.has_batch) return output.squeeze(1);
  return options.batch_first() ? output.transpose(0, 1) : output;
}

template <class Derived, class Options>
Tensor RNNImplBase<Derived, Options>::finish_state(const std::vector<Tensor>& states,
                                                   const Sequence& input) const {
  const Tensor out = stack(states, 0);
  return input.has_batch ? out : out.squeeze(1);
}

template class RNNImplBase<RNNImpl, RNNOptions>;
template class RNNImplBase<LSTMImpl, LSTMOptions>;
template class RNNImplBase<GRUImpl, GRUOptions>;

}  // namespace detail

// ---- Whole sequences.

RNNImpl::RNNImpl(int64_t input_size, int64_t hidden_size)
    : RNNImpl(RNNOptions(input_size, hidden_size)) {}
RNNImpl::RNNImpl(const RNNOptions& options) : RNNImplBase(options, "RNN", 1) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  const Sequence sequence = checked_input(input);
  std::vector<Tensor> hidden = checked_state(hx, sequence, "hidden").unbind(0);
  const bool use_tanh = std::holds_alternative<enumtype::kTanh>(options.nonlinearity());
  const Tensor out = run_layers(
      sequence.steps,
      [&](size_t at, const Tensor& in, const detail::LayerWeights& weights, bool reverse) {
        const auto result = detail::rnn_layer(in, {hidden[at], {}}, weights, use_tanh, reverse);
        hidden[at] = result.last.hidden;
        return result.outputs;
      });
  return {finish(out, sequence), finish_state(hidden, sequence)};
}

LSTMImpl::LSTMImpl(int64_t input_size, int64_t hidden_size)
    : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
LSTMImpl::LSTMImpl(const LSTMOptions& options) : RNNImplBase(options, "LSTM", 4) {}

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::forward(const Tensor& input,
                                                      std::optional<State> hx_opt) {
  const Sequence sequence = checked_input(input);
  const State given = hx_opt.value_or(State());
  std::vector<Tensor> hidden = checked_state(std::get<0>(given), sequence, "hidden[0]").unbind(0);
  std::vector<Tensor> cell = checked_state(std::get<1>(given), sequence, "hidden[1]").unbind(0);
  const Tensor out = run_layers(
      sequence.steps,
      [&](size_t at, const Tensor& in, const detail::LayerWeights& weights, bool reverse) {
        const auto result = detail::lstm_layer(in, {hidden[at], cell[at]}, weights, reverse);
        hidden[at] = result.last.hidden;
        cell[at] = result.last.cell;
        return result.outputs;
      });
  return {finish(out, sequence),
          State(finish_state(hidden, sequence), finish_state(cell, sequence))};
}

GRUImpl::GRUImpl(int64_t input_size, int64_t hidden_size)
    : GRUImpl(GRUOptions(input_size, hidden_size)) {}
GRUImpl::GRUImpl(const GRUOptions& options) : RNNImplBase(options, "GRU", 3) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  const Sequence sequence = checked_input(input);
  std::vector<Tensor> hidden = checked_state(hx, sequence, "hidden").unbind(0);
  const Tensor out = run_layers(
      sequence.steps,
      [&](size_t at, const Tensor& in, const detail::LayerWeights& weights, bool reverse) {
        const auto result = detail::gru_layer(in, {hidden[at], {}}, weights, reverse);
        hidden[at] = result.last.hidden;
        return result.outputs;
      });
  return {finish(out, sequence), finish_state(hidden, sequence)};
}

// ---- Cells.

namespace detail {

template <class Derived, class Options>
RNNCellImplBase<Derived, Options>::RNNCellImplBase(const Options& options, const char* name,
                                                   int64_t gates)
    : options(options), name_(name), gates_(gates) {
  RNNCellImplBase::reset();
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::reset() {
  const int64_t rows = gates_ * options.hidden_size();
  const auto bias = [&] { return options.bias() ? taper::empty(rows) : Tensor(); };
  weight_ih = this->register_parameter("weight_ih", taper::empty({rows, options.input_size()}));
  weight_hh = this->register_parameter("weight_hh", taper::empty({rows, options.hidden_size()}));
  bias_ih = this->register_parameter("bias_ih", bias());
  bias_hh = this->register_parameter("bias_hh", bias());
  reset_parameters();
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::reset_parameters() {
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.hidden_size()));
  for (const Tensor& parameter : this->parameters()) init::uniform_(parameter, -bound, bound);
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::" << name_ << "(" << options.input_size() << ", " << options.hidden_size();
  if (!options.bias()) stream << ", bias=false";
  if constexpr (requires { options.nonlinearity(); }) {
    if (!std::holds_alternative<enumtype::kTanh>(options.nonlinearity())) {
      stream << ", nonlinearity=kReLU";
    }
  }
  stream << ")";
}

template <class Derived, class Options>
Tensor RNNCellImplBase<Derived, Options>::checked_input(const Tensor& input) const {
  TAPER_CHECK(input.dim() == 1 || input.dim() == 2, name_, ": Expected input to be 1D or 2D, got ",
              input.dim(), "D instead");
  TAPER_CHECK(input.size(-1) == options.input_size(), "input has inconsistent input_size: got ",
              input.size(-1), " expected ", options.input_size());
  return input.dim() == 2 ? input : input.unsqueeze(0);
}

template <class Derived, class Options>
Tensor RNNCellImplBase<Derived, Options>::checked_state(const Tensor& given, const Tensor& input,
                                                        int number) const {
  if (!given.defined()) return zeros({input.size(0), options.hidden_size()}, input.options());
  TAPER_CHECK(given.dim() == 1 || given.dim() == 2, name_, ": Expected hidden", number,
              " to be 1D or 2D, got ", given.dim(), "D instead");
  const Tensor state = given.dim() == 2 ? given : given.unsqueeze(0);
  TAPER_CHECK(state.size(0) == input.size(0), "Input batch size ", input.size(0),
              " doesn't match hidden", number, " batch size ", state.size(0));
  TAPER_CHECK(state.size(1) == options.hidden_size(), "hidden", number,
              " has inconsistent hidden_size: got ", state.size(1), ", expected ",
              options.hidden_size());
  return state;
}

template class RNNCellImplBase<RNNCellImpl, RNNCellOptions>;
template class RNNCellImplBase<LSTMCellImpl, LSTMCellOptions>;
template class RNNCellImplBase<GRUCellImpl, GRUCellOptions>;

}  // namespace detail

RNNCellImpl::RNNCellImpl(int64_t input_size, int64_t hidden_size)
    : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
RNNCellImpl::RNNCellImpl(const RNNCellOptions& options) : RNNCellImplBase(options, "RNNCell", 1) {}

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  const Tensor x = checked_input(input), hidden = checked_state(hx, x, 0);
  const Tensor sum = linear(x, weight_ih, detail::bias_or_nothing(bias_ih)) +
                     linear(hidden, weight_hh, detail::bias_or_nothing(bias_hh));
  const bool use_tanh = std::holds_alternative<enumtype::kTanh>(options.nonlinearity());
  const Tensor next = use_tanh ? sum.tanh() : sum.relu();
  return input.dim() == 2 ? next : next.squeeze(0);
}

LSTMCellImpl::LSTMCellImpl(int64_t input_size, int64_t hidden_size)
    : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options)
    : RNNCellImplBase(options, "LSTMCell", 4) {}

LSTMCellImpl::State LSTMCellImpl::forward(const Tensor& input, std::optional<State> hx_opt) {
  const Tensor x = checked_input(input);
  const State state = hx_opt.value_or(State());
  const Tensor hidden = checked_state(std::get<0>(state), x, 0);
  const Tensor cell = checked_state(std::get<1>(state), x, 1);
  const Tensor gates = linear(x, weight_ih, detail::bias_or_nothing(bias_ih)) +
                       linear(hidden, weight_hh, detail::bias_or_nothing(bias_hh));
  const detail::LayerState next = detail::lstm_step(gates, cell);
  if (input.dim() == 2) return {next.hidden, next.cell};
  return {next.hidden.squeeze(0), next.cell.squeeze(0)};
}

GRUCellImpl::GRUCellImpl(int64_t input_size, int64_t hidden_size)
    : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
GRUCellImpl::GRUCellImpl(const GRUCellOptions& options) : RNNCellImplBase(options, "GRUCell", 3) {}

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  const Tensor x = checked_input(input), hidden = checked_state(hx, x, 0);
  const Tensor next =
      detail::gru_step(linear(x, weight_ih, detail::bias_or_nothing(bias_ih)),
                       linear(hidden, weight_hh, detail::bias_or_nothing(bias_hh)), hidden);
  return input.dim() == 2 ? next : next.squeeze(0);
}

}  // namespace taper::nn
