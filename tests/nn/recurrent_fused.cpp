#include <algorithm>

#include "nn/golden.h"
#include "taper/core/parallel.h"

using namespace taper;
using namespace nn_tests;

// LSTM and GRU as one node against the same written out in public ops, and against the composed
// form, which gives the gradient where the backward pass is recorded.

namespace {

struct Net {
  bool gru;
  int64_t time, batch, input, hidden;
  bool reverse, bias;
  ScalarType dtype = kDouble;
};

// x, h, c, W_ih, W_hh, b_ih, b_hh as leaves.
std::vector<Tensor> operands(const Net& n) {
  const int64_t rows = (n.gru ? 3 : 4) * n.hidden;
  const std::vector<Sizes> sizes = {{n.time, n.batch, n.input},
                                    {1, n.batch, n.hidden},
                                    {1, n.batch, n.hidden},
                                    {rows, n.input},
                                    {rows, n.hidden},
                                    {rows},
                                    {rows}};
  std::vector<Tensor> out;
  for (size_t i = 0; i < (n.bias ? 7 : 5); ++i) {
    const double scale = i < 3 ? 1 : 1 / std::sqrt(static_cast<double>(n.hidden));
    out.push_back((wave(sizes[i], static_cast<double>(i)) * scale).to(n.dtype).requires_grad_());
  }
  return out;
}

using Results = std::vector<Tensor>;  // outputs, last hidden, last cell

// The equations, one step after the other.
Results written_out(const Net& n, const std::vector<Tensor>& in) {
  Tensor h = in[1][0], c = in[2][0];
  std::vector<Tensor> outputs(static_cast<size_t>(n.time));
  for (int64_t i = 0; i < n.time; ++i) {
    const int64_t t = n.reverse ? n.time - 1 - i : i;
    Tensor from_x = in[0][t].mm(in[3].t()), from_h = h.mm(in[4].t());
    if (n.bias) from_x = from_x + in[5], from_h = from_h + in[6];
    const auto part = [&](const Tensor& x, int64_t k) {
      return x.narrow(1, k * n.hidden, n.hidden);
    };
    if (n.gru) {
      const Tensor r = (part(from_x, 0) + part(from_h, 0)).sigmoid();
      const Tensor z = (part(from_x, 1) + part(from_h, 1)).sigmoid();
      h = (1 - z) * (part(from_x, 2) + r * part(from_h, 2)).tanh() + z * h;
    } else {
      const Tensor sum = from_x + from_h;
      c = part(sum, 1).sigmoid() * c + part(sum, 0).sigmoid() * part(sum, 2).tanh();
      h = part(sum, 3).sigmoid() * c.tanh();
    }
    outputs[static_cast<size_t>(t)] = h;
  }
  Results results = {stack(outputs), h};
  if (!n.gru) results.push_back(c);
  return results;
}

// A module whose parameters are these tensors themselves.
template <class Impl>
struct With : Impl {
  template <class Options>
  With(const Options& options, const Net& n, const std::vector<Tensor>& in) : Impl(options) {
    this->to(n.dtype);
    const char* names[] = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"};
    for (size_t i = 3; i < in.size(); ++i) {
      this->parameters_[names[i - 3] + std::string(n.reverse ? "_reverse" : "")] = in[i];
    }
  }
};

// The layer; one that runs backwards is the second direction of a bidirectional one.
Results run(const Net& n, const std::vector<Tensor>& in) {
  const auto states = [&](const Tensor& s) { return n.reverse ? cat({zeros_like(s), s}) : s; };
  const int64_t at = n.reverse ? 1 : 0;
  const auto own = [&](const Tensor& outputs) {
    return outputs.narrow(2, at * n.hidden, n.hidden);
  };
  if (n.gru) {
    With<nn::GRUImpl> gru(nn::GRUOptions(n.input, n.hidden).bias(n.bias).bidirectional(n.reverse),
                          n, in);
    const auto [out, last] = gru.forward(in[0], states(in[1]));
    return {own(out), last[at]};
  }
  With<nn::LSTMImpl> lstm(nn::LSTMOptions(n.input, n.hidden).bias(n.bias).bidirectional(n.reverse),
                          n, in);
  const auto [out, last] = lstm.forward(in[0], std::make_tuple(states(in[1]), states(in[2])));
  return {own(out), std::get<0>(last)[at], std::get<1>(last)[at]};
}

// A number that depends on all results, on each element otherwise.
Tensor weighted(const Results& results) {
  Tensor sum;
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor part =
        (results[i] * wave(results[i].sizes().vec(), double(i) + 0.5).to(results[i].scalar_type()))
            .sum();
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

// Within `tolerance` of the largest element.
void check_near(const std::vector<Tensor>& got, const std::vector<Tensor>& expected,
                double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    REQUIRE(got[i].sizes() == expected[i].sizes());
    const Tensor exact = expected[i].detach().to(kDouble);
    const double scale = exact.abs().max().item<double>();
    const double apart = (got[i].detach().to(kDouble) - exact).abs().max().item<double>();
    INFO("number " << i << " is " << apart << " apart, of " << scale);
    CHECK(apart <= tolerance * scale);
  }
}

// The operands that have a gradient: GRU has no cell.
std::vector<Tensor> wanted(const Net& n, std::vector<Tensor> in) {
  if (n.gru) in.erase(in.begin() + 2);
  return in;
}

void check_net(const Net& n, double tolerance) {
  INFO((n.gru ? "GRU" : "LSTM") << ", time " << n.time << ", batch " << n.batch << ", " << n.input
                                << " -> " << n.hidden << ", reverse " << n.reverse << ", bias "
                                << n.bias << ", " << n.dtype);
  const std::vector<Tensor> in = operands(n), leaves = wanted(n, in);
  const Results got = run(n, in), expected = written_out(n, in);
  check_near(got, expected, tolerance);
  const auto gradients = autograd::grad({weighted(got)}, leaves, {}, true);
  check_near(gradients, autograd::grad({weighted(expected)}, leaves), tolerance);
  // The composed form, by way of create_graph; and the fused one again on the graph that was kept.
  const auto recorded = autograd::grad({weighted(got)}, leaves, {}, true, true);
  CHECK(recorded[0].requires_grad());
  check_near(recorded, gradients, tolerance);
  check_near(autograd::grad({weighted(got)}, leaves), gradients, 0);

  const NoGradGuard no_grad;
  check_near(run(n, in), got, 0);
}

void check_both(Net n, double tolerance) {
  n.gru = false;
  check_net(n, tolerance);
  n.gru = true;
  check_net(n, tolerance);
}

// time, batch, input, hidden: one of each, odd ones, tails of a packet, more than a packet.
const Sizes kShapes[] = {{1, 1, 1, 1}, {2, 3, 2, 5}, {3, 2, 4, 16}, {7, 33, 5, 37}, {4, 1, 8, 130}};

}  // namespace

TEST_CASE("a fused layer gives what its equations give, and their gradients") {
  for (const Sizes& s : kShapes) {
    for (const bool reverse : {false, true}) {
      for (const bool bias : {false, true}) {
        check_both({false, s[0], s[1], s[2], s[3], reverse, bias}, 1e-12);
      }
    }
    check_both({false, s[0], s[1], s[2], s[3], false, true, kFloat}, 1e-5);
    check_both({false, s[0], s[1], s[2], s[3], true, true, kBFloat16}, 6e-2);
    check_both({false, s[0], s[1], s[2], s[3], false, false, kHalf}, 1e-2);
  }
}

TEST_CASE("a layer is one node of the tape") {
  CHECK(std::string(std::get<0>(nn::LSTM(3, 4)(ones({2, 2, 3}))).grad_fn()->name()) ==
        "LstmLayerBackward0");
  CHECK(std::string(std::get<0>(nn::GRU(3, 4)(ones({2, 2, 3}))).grad_fn()->name()) ==
        "GruLayerBackward0");
}

TEST_CASE("gradients of a layer, and their gradients, are what finite differences say") {
  for (const bool gru : {false, true}) {
    const Net n{gru, 3, 2, 2, 2, gru, true};
    const auto outputs = [&](const std::vector<Tensor>& in) { return run(n, in); };
    CHECK(autograd::gradcheck(outputs, operands(n)));
    CHECK(autograd::gradgradcheck(outputs, operands(n)));
  }
}

TEST_CASE("a layer's gradient may arrive at any of its results, and be wanted by any operand") {
  for (const bool gru : {false, true}) {
    const Net n{gru, 4, 3, 2, 5, false, true};
    const std::vector<Tensor> all = operands(n);
    for (size_t result = 0; result < (gru ? 2 : 3); ++result) {
      for (size_t operand = 0; operand < all.size(); ++operand) {
        if (gru && operand == 2) continue;
        INFO("result " << result << ", operand " << operand << ", GRU " << gru);
        std::vector<Tensor> in;
        for (const Tensor& t : all) in.push_back(t.detach());
        in[operand] = all[operand];
        const auto gradient = [&](const Results& results, bool create_graph) {
          return autograd::grad({weighted({results[result]})}, {in[operand]}, {}, true,
                                create_graph);
        };
        const auto expected = gradient(written_out(n, in), false);
        check_near(gradient(run(n, in), false), expected, 1e-12);
        check_near(gradient(run(n, in), true), expected, 1e-12);
      }
    }
  }
}

// The recorded form must not follow the state's history into the input a second time.
TEST_CASE("a state that was made of the input is differentiated once") {
  for (const bool gru : {false, true}) {
    const Net n{gru, 3, 2, 4, 4, false, true};
    const auto gradient = [&](const auto& layer, bool create_graph) {
      std::vector<Tensor> in = operands(n);
      in[1] = in[0].mean(0, true);
      in[2] = in[1] * 2;
      return autograd::grad({weighted(layer(n, in))}, {in[0]}, {}, true, create_graph);
    };
    const auto expected = gradient(written_out, false);
    check_near(gradient(run, false), expected, 1e-12);
    check_near(gradient(run, true), expected, 1e-12);
  }
}

TEST_CASE("outputs of a layer may be changed in place, its operands not") {
  for (const bool gru : {false, true}) {
    const Net n{gru, 3, 2, 4, 4, false, true};
    const auto doubled = [&](const Results& results) {
      return (results[0].mul_(2) * wave({3, 2, 4}, 1)).sum();
    };
    const std::vector<Tensor> in = operands(n);
    check_near(autograd::grad({doubled(run(n, in))}, {in[0], in[4]}),
               autograd::grad({doubled(written_out(n, in))}, {in[0], in[4]}), 1e-12);
    const Results results = run(n, in);
    {
      const NoGradGuard no_grad;
      Tensor(in[4]).mul_(2);
    }
    CHECK(error_of([&] {
            weighted(results).backward();
          }).find("modified by an inplace operation") != std::string::npos);
  }
}

TEST_CASE("a layer gives the same on any number of threads") {
  const int before = get_num_threads();
  for (const bool gru : {false, true}) {
    const Net n{gru, 5, 48, 20, 130, false, true, kFloat};
    const std::vector<Tensor> in = operands(n), leaves = {in[0], in[1], in[3], in[4]};
    std::vector<Tensor> found[2];
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      const Results results = run(n, in);
      found[threads / 3] = autograd::grad({weighted(results)}, leaves);
      found[threads / 3].push_back(results[0].detach());
    }
    check_near(found[1], found[0], 1e-6);
    CHECK(found[1].back().equal(found[0].back()));
  }
  set_num_threads(before);
}

TEST_CASE("operands that do not fit are refused by name, not read") {
  nn::LSTM lstm(3, 4);
  lstm->named_parameters()["weight_hh_l0"].set_data(ones({16, 5}));
  CHECK(error_of([&] { lstm(ones({2, 2, 3})); }).find("cannot be multiplied") != std::string::npos);
  nn::GRU gru(3, 4);
  CHECK_FALSE(error_of([&] { gru(ones({2, 2, 3}, kDouble)); }).empty());
}
