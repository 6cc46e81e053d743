#pragma once

#include <tuple>

#include "taper/nn/options/rnn.h"

// Recurrent networks. Input [time, batch, input_size], [batch, time, input_size] with batch_first,
// or [time, input_size]; states [layers * directions, batch, hidden_size], zeros where none are
// given.

namespace taper::nn {

namespace detail {

/// What the three kinds share: options, weights and checks. `weight_ih_l0` [gates * hidden, input],
/// `weight_hh_l0` [gates * hidden, hidden], `bias_ih_l0`, `bias_hh_l0`; then layer 1, and
/// `..._reverse`.
template <class Derived, class Options>
class TAPER_API RNNImplBase : public Cloneable<Derived> {
 public:
  RNNImplBase(const Options& options, const char* name, int64_t gates);
  void reset() override;
  /// Everything uniform within 1 / sqrt(hidden_size).
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// In the order in which they are registered.
  std::vector<Tensor> all_weights() const;
  /// Weights need no joint buffer here; LibTorch programs call this after moving a module.
  void flatten_parameters() {}

  static constexpr size_t kForwardDefaultArguments = 1;

  Options options;

 protected:
  struct Sequence {
    Tensor steps;  ///< [time, batch, input_size]
    bool has_batch = true;
    int64_t batch_size = 0;
  };
  Sequence checked_input(const Tensor& input) const;
  /// The state that a caller gave as [layers * directions, batch, hidden_size], or zeros.
  Tensor checked_state(const Tensor& given, const Sequence& input, const char* what) const;
  Tensor finish(Tensor output, const Sequence& input) const;
  Tensor finish_state(const std::vector<Tensor>& states, const Sequence& input) const;
  int64_t directions() const { return options.bidirectional() ? 2 : 1; }

  /// Runs all layers and directions. `run(layer_and_direction, input, weights, reverse)` takes one
  /// of them through time and returns its outputs [time, batch, hidden].
  template <class Run>
  Tensor run_layers(Tensor input, const Run& run) const;

 private:
  std::string weight_name(const char* kind, int64_t layer, bool reverse) const;

  const char* name_;
  int64_t gates_;
};

}  // namespace detail

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. Elman, 1990.
class TAPER_API RNNImpl : public detail::RNNImplBase<RNNImpl, RNNOptions> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size);
  explicit RNNImpl(const RNNOptions& options);
  /// Output of the last layer at every step, and the last state.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
};
TAPER_MODULE(RNN);

/// Long short-term memory; gates in the order input, forget, cell, output. Hochreiter and
/// Schmidhuber, 1997.
class TAPER_API LSTMImpl : public detail::RNNImplBase<LSTMImpl, LSTMOptions> {
 public:
  using State = std::tuple<Tensor, Tensor>;  ///< hidden, cell

  LSTMImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMImpl(const LSTMOptions& options);
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx_opt = {});
};
TAPER_MODULE(LSTM);

/// Gated recurrent units; gates in the order reset, update, new. Cho et al., arXiv 1406.1078.
class TAPER_API GRUImpl : public detail::RNNImplBase<GRUImpl, GRUOptions> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size);
  explicit GRUImpl(const GRUOptions& options);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
};
TAPER_MODULE(GRU);

namespace detail {

/// One step: input [batch, input_size] or [input_size].
template <class Derived, class Options>
class TAPER_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  RNNCellImplBase(const Options& options, const char* name, int64_t gates);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  static constexpr size_t kForwardDefaultArguments = 1;

  Options options;
  Tensor weight_ih;
  Tensor weight_hh;
  Tensor bias_ih;
  Tensor bias_hh;

 protected:
  Tensor checked_input(const Tensor& input) const;
  Tensor checked_state(const Tensor& given, const Tensor& input, int number) const;

 private:
  const char* name_;
  int64_t gates_;
};

}  // namespace detail

class TAPER_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl, RNNCellOptions> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size);
  explicit RNNCellImpl(const RNNCellOptions& options);
  Tensor forward(const Tensor& input, const Tensor& hx = {});
};
TAPER_MODULE(RNNCell);

class TAPER_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl, LSTMCellOptions> {
 public:
  using State = std::tuple<Tensor, Tensor>;  ///< hidden, cell

  LSTMCellImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMCellImpl(const LSTMCellOptions& options);
  State forward(const Tensor& input, std::optional<State> hx_opt = {});
};
TAPER_MODULE(LSTMCell);

class TAPER_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl, GRUCellOptions> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size);
  explicit GRUCellImpl(const GRUCellOptions& options);
  Tensor forward(const Tensor& input, const Tensor& hx = {});
};
TAPER_MODULE(GRUCell);

}  // namespace taper::nn
