#include "nn/golden.h"

using namespace taper;
using namespace nn_tests;

// Values and gradients against PyTorch: outputs, last states, inputs, initial states, every weight.

namespace {

Tensor leaf(const Sizes& sizes, double phase) { return wave(sizes, phase).requires_grad_(); }

std::pair<Tensor, Tensor> run(nn::LSTM& model, const Tensor& x, const Tensor& h, const Tensor& c) {
  const auto [out, last] = model(x, std::make_tuple(h, c));
  return {out, stack({std::get<0>(last), std::get<1>(last)})};
}
template <class Holder>
std::pair<Tensor, Tensor> run(Holder& model, const Tensor& x, const Tensor& h, const Tensor&) {
  const auto [out, last] = model(x, h);
  return {out, last};
}

template <class Holder, class Options>
void check_recurrent(const std::string& name, const Options& options, bool batched = true) {
  Holder model = seeded<Holder>(options);
  const int64_t states = options.num_layers() * (options.bidirectional() ? 2 : 1);
  const Tensor x = leaf(!batched                ? Sizes{5, 3}
                        : options.batch_first() ? Sizes{2, 5, 3}
                                                : Sizes{5, 2, 3},
                        0);
  const Sizes state = batched ? Sizes{states, 2, 4} : Sizes{states, 4};
  const Tensor h = leaf(state, 1), c = leaf(state, 2);
  const auto [out, last] = run(model, x, h, c);
  check_values(name + ".out", out);
  check_values(name + ".last", last);
  const auto weighted = [](const Tensor& t, double phase) {
    return (t * wave(t.sizes().vec(), phase)).sum();
  };
  (weighted(out, 3) + weighted(last, 4)).backward();
  check_values(name + ".grad_input", x.grad());
  check_values(name + ".grad_hidden", h.grad());
  for (const auto& item : model->named_parameters()) {
    check_digest(name + ".grad." + item.key(), item.value().grad());
  }
}

template <class Holder, class Options>
void check_kind(const std::string& kind) {
  check_recurrent<Holder>(kind + ".plain", Options(3, 4));
  check_recurrent<Holder>(kind + ".deep",
                          Options(3, 4).num_layers(2).bidirectional(true).batch_first(true));
  check_recurrent<Holder>(kind + ".nobias", Options(3, 4).num_layers(2).bias(false));
  check_recurrent<Holder>(kind + ".unbatched", Options(3, 4).bidirectional(true), false);
}

}  // namespace

TEST_CASE("LSTM gives PyTorch's values and gradients") {
  check_kind<nn::LSTM, nn::LSTMOptions>("LSTM");
}
TEST_CASE("GRU gives PyTorch's values and gradients") {
  check_kind<nn::GRU, nn::GRUOptions>("GRU");
}
TEST_CASE("RNN gives PyTorch's values and gradients") {
  check_kind<nn::RNN, nn::RNNOptions>("RNN");
  check_recurrent<nn::RNN>("RNN.relu", nn::RNNOptions(3, 4).nonlinearity(kReLU));
}

TEST_CASE("cells give PyTorch's values and gradients") {
  const auto check = [](const std::string& name, const nn::Module& cell, const Tensor& x,
                        const Tensor& out) {
    check_values(name + ".out", out);
    (out * wave(out.sizes().vec(), 3)).sum().backward();
    check_values(name + ".grad_input", x.grad());
    for (const auto& item : cell.named_parameters()) {
      check_digest(name + ".grad." + item.key(), item.value().grad());
    }
  };
  const Tensor h = wave({2, 4}, 1), c = wave({2, 4}, 2);
  {
    auto cell = seeded<nn::LSTMCell>(3, 4);
    const Tensor x = leaf({2, 3}, 0);
    const auto [hidden, next] = cell(x, std::make_tuple(h, c));
    check("LSTMCell", *cell, x, cat({hidden, next}));
  }
  {
    auto cell = seeded<nn::GRUCell>(3, 4);
    const Tensor x = leaf({2, 3}, 0);
    check("GRUCell", *cell, x, cell(x, h));
  }
  for (const bool relu : {false, true}) {
    nn::RNNCellOptions options(3, 4);
    if (relu) options.nonlinearity(kReLU);
    auto cell = seeded<nn::RNNCell>(options);
    const Tensor x = leaf({2, 3}, 0);
    check(relu ? "RNNCell.relu" : "RNNCell", *cell, x, cell(x, h));
  }
}

TEST_CASE("a cell stepped by hand is the layer") {
  nn::GRU layer(3, 4);
  nn::GRUCell cell(3, 4);
  {
    const NoGradGuard quiet;
    for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
      cell->named_parameters()[name].copy_(layer->named_parameters()[std::string(name) + "_l0"]);
    }
  }
  const Tensor x = wave({6, 2, 3}).to(kFloat);
  Tensor h;
  for (int64_t t = 0; t < 6; ++t) h = cell(x[t], h);
  CHECK(near(std::get<1>(layer(x))[0], values(h)));
}

TEST_CASE("gradients of recurrent layers can be differentiated again") {
  nn::LSTM lstm(2, 2);
  lstm->to(kDouble);
  const Tensor weight = lstm->named_parameters()["weight_hh_l0"];
  CHECK(autograd::gradgradcheck(
      [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{std::get<0>(lstm(in[0]))}; },
      {leaf({3, 1, 2}, 0)}));
  nn::GRU gru(2, 2);
  gru->to(kDouble);
  CHECK(autograd::gradgradcheck(
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{std::get<0>(gru(in[0], in[1]))};
      },
      {leaf({3, 1, 2}, 0), leaf({1, 1, 2}, 1)}));
}

TEST_CASE("dropout acts between layers, in training only") {
  nn::GRU gru(nn::GRUOptions(3, 4).num_layers(2).dropout(1.0));
  const Tensor a = wave({5, 2, 3}).to(kFloat), b = wave({5, 2, 3}, 1).to(kFloat);
  // Everything between the layers is dropped: the second layer sees zeros, whatever came in.
  CHECK(near(std::get<0>(gru(a)), values(std::get<0>(gru(b)))));
  gru->eval();
  CHECK_FALSE(near(std::get<0>(gru(a)), values(std::get<0>(gru(b)))));
  nn::GRU single(nn::GRUOptions(3, 4).dropout(1.0));
  CHECK_FALSE(near(std::get<0>(single(a)), values(std::get<0>(single(b)))));
}

TEST_CASE("recurrent layers keep their weights when they move or are copied") {
  nn::LSTM lstm(3, 4);
  const Tensor x = wave({5, 2, 3}).to(kFloat);
  const std::vector<double> before = values(std::get<0>(lstm(x)));
  const auto copy = std::dynamic_pointer_cast<nn::LSTMImpl>(lstm->clone());
  CHECK(near(std::get<0>(copy->forward(x)), before));
  lstm->to(kDouble);
  lstm->flatten_parameters();
  CHECK(near(std::get<0>(lstm(x.to(kDouble))), before, 1e-6));
  CHECK(lstm->all_weights().size() == 4);
}

TEST_CASE("recurrent layers refuse what does not fit") {
  check_rows(std::vector<ErrorRow>{
      THROWS(nn::LSTM(3, 4)->forward(ones({2, 2, 5})),
             "input.size(-1) must be equal to input_size. Expected 3, got 5"),
      THROWS(nn::LSTM(3, 4)->forward(ones({3})), "Expected input to be 2D or 3D, got 1D"),
      THROWS(nn::GRU(3, 4)->forward(ones({2, 2, 3}), ones({1, 3, 4})),
             "Expected hidden size (1, 2, 4), got [1, 3, 4]"),
      THROWS(nn::GRU(3, 4)->forward(ones({2, 2, 3}), ones({1, 4})),
             "should also be 3-D but got 2-D"),
      THROWS(nn::LSTM(3, 4)->forward(ones({2, 2, 3}),
                                     std::make_tuple(ones({1, 2, 4}), ones({1, 2, 5}))),
             "Expected hidden[1] size (1, 2, 4), got [1, 2, 5]"),
      THROWS(nn::RNN(3, 4)->forward(ones({0, 2, 3})),
             "Expected sequence length to be larger than 0 in RNN"),
      THROWS(nn::GRU(nn::GRUOptions(1, 2).dropout(1.5)), "dropout should be a number in range"),
      THROWS(nn::GRU(nn::GRUOptions(1, 0)), "hidden_size must be greater than zero"),
      THROWS(nn::GRU(nn::GRUOptions(1, 1).num_layers(0)), "num_layers must be greater than zero"),
      THROWS(nn::LSTMCell(3, 4)->forward(ones({2, 5})),
             "input has inconsistent input_size: got 5 expected 3"),
      THROWS(nn::GRUCell(3, 4)->forward(ones({2, 3}), ones({3, 4})),
             "Input batch size 2 doesn't match hidden0 batch size 3"),
      THROWS(nn::GRUCell(3, 4)->forward(ones({2, 3}), ones({2, 5})),
             "hidden0 has inconsistent hidden_size: got 5, expected 4"),
  });
}
