// The steps of LSTM and GRU against their equations in double, number by number; the backward
// against central differences of those.

#include <cmath>
#include <functional>

#include "catch.h"
#include "support/tensors.h"
#include "taper/kernels/backend.h"

using namespace taper;
using namespace support;

namespace {

using Numbers = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One element's cell: operands to {hidden, cell, ...}.
Numbers lstm(const Numbers& in) {  // sums of the four gates, cell before
  const double cell = sigmoid(in[1]) * in[4] + sigmoid(in[0]) * std::tanh(in[2]);
  return {sigmoid(in[3]) * std::tanh(cell), cell};
}
Numbers gru(const Numbers& in) {  // three shares of the input, three of the state, state before
  const double reset = sigmoid(in[0] + in[3]), update = sigmoid(in[1] + in[4]);
  const double fresh = std::tanh(in[2] + reset * in[5]);
  return {fresh + update * (in[6] - fresh)};
}

// d(sum of weights * results) / d(in[k])
double slope(Numbers (*cell)(const Numbers&), Numbers in, size_t k, const Numbers& weights) {
  constexpr double kStep = 1e-5;
  double value[2];
  for (const int side : {0, 1}) {
    Numbers at = in;
    at[k] += side ? kStep : -kStep;
    const Numbers results = cell(at);
    value[side] = 0;
    for (size_t i = 0; i < weights.size(); ++i) value[side] += weights[i] * results[i];
  }
  return (value[1] - value[0]) / (2 * kStep);
}

struct Case {
  int64_t batch, hidden;
  ScalarType dtype;
  kernels::RecurrentCellArgs args() const { return {dtype, batch, hidden}; }
  double tolerance() const {
    return dtype == kDouble ? 1e-8 : dtype == kFloat ? 1e-5 : dtype == kHalf ? 4e-3 : 3e-2;
  }
  Tensor made(int64_t columns, double phase) const {
    std::vector<double> elements;
    for (int64_t i = 0; i < batch * columns; ++i) {
      elements.push_back(2 * std::sin(0.7 * static_cast<double>(i) + phase));
    }
    return make(elements, {batch, columns}, dtype);
  }
  Tensor empty(int64_t columns) const { return taper::empty({batch, columns}, dtype); }
  // Gate k of every element.
  Numbers part(const Tensor& tensor, int64_t k) const {
    return values(tensor.narrow(1, k * hidden, hidden));
  }
};

// got[i] is near what `expected` makes of the i-th element of all operands.
void check_elements(const Case& c, const Numbers& got, const std::vector<Numbers>& operands,
                    const std::function<double(const Numbers&)>& expected) {
  Numbers wanted;
  for (size_t i = 0; i < got.size(); ++i) {
    Numbers element;
    for (const Numbers& operand : operands) element.push_back(operand[i]);
    wanted.push_back(expected(element));
  }
  INFO("batch " << c.batch << ", hidden " << c.hidden << ", " << c.dtype << ": " << text(got)
                << ", expected " << text(wanted));
  CHECK(near(got, wanted, c.tolerance()));
}

void check_lstm(const Case& c) {
  const kernels::KernelTable& table = kernels::cpu_table();
  const kernels::Stream stream = kernels::stream_for(kCPU);
  const int64_t h = c.hidden;
  const Tensor gates = c.made(4 * h, 0), before = c.made(h, 1), hidden = c.empty(h);
  std::vector<Numbers> in;
  for (int64_t k = 0; k < 4; ++k) in.push_back(c.part(gates, k));
  in.push_back(values(before));
  Tensor cell = before.clone();  // written where it is read
  REQUIRE(table
              .lstm_cell_forward(hidden.data_ptr(), cell.data_ptr(), gates.data_ptr(),
                                 cell.data_ptr(), c.args(), stream)
              .ok());
  check_elements(c, values(hidden), in, [](const Numbers& x) { return lstm(x)[0]; });
  check_elements(c, values(cell), in, [](const Numbers& x) { return lstm(x)[1]; });

  const Tensor one = c.made(h, 2), two = c.made(h, 3), grads = c.empty(4 * h);
  const ScalarType wide = c.dtype == kDouble ? kDouble : kFloat;
  for (const int which : {0, 1, 2, 3}) {  // neither, either or both parts of hidden's gradient
    const Tensor grad_cell = c.made(h, 4).to(wide).clone();
    auto operands = in;
    operands.push_back(values(grad_cell));
    operands.push_back(values(which & 1 ? one : zeros_like(one)));
    operands.push_back(values(which & 2 ? two : zeros_like(two)));
    REQUIRE(table
                .lstm_cell_backward(grads.data_ptr(), grad_cell.data_ptr(),
                                    which & 1 ? one.data_ptr() : nullptr,
                                    which & 2 ? two.data_ptr() : nullptr, gates.data_ptr(),
                                    cell.data_ptr(), before.data_ptr(), c.args(), stream)
                .ok());
    for (size_t k = 0; k < 5; ++k) {
      check_elements(c, k < 4 ? c.part(grads, static_cast<int64_t>(k)) : values(grad_cell),
                     operands,
                     [k](const Numbers& x) { return slope(lstm, x, k, {x[6] + x[7], x[5]}); });
    }
  }
}

void check_gru(const Case& c) {
  const kernels::KernelTable& table = kernels::cpu_table();
  const kernels::Stream stream = kernels::stream_for(kCPU);
  const int64_t h = c.hidden;
  const Tensor gates = c.made(3 * h, 0), share = c.made(3 * h, 5), before = c.made(h, 1);
  const Tensor hidden = c.empty(h), kept = c.empty(h);
  std::vector<Numbers> in;
  for (const Tensor* shares : {&gates, &share}) {
    for (int64_t k = 0; k < 3; ++k) in.push_back(c.part(*shares, k));
  }
  in.push_back(values(before));
  const Tensor copy = gates.clone();
  for (const bool keep : {false, true}) {
    const Tensor& work = keep ? gates : copy;
    REQUIRE(table
                .gru_cell_forward(hidden.data_ptr(), work.data_ptr(),
                                  keep ? kept.data_ptr() : nullptr, share.data_ptr(),
                                  before.data_ptr(), c.args(), stream)
                .ok());
    check_elements(c, values(hidden), in, [](const Numbers& x) { return gru(x)[0]; });
  }

  const Tensor one = c.made(h, 2), two = c.made(h, 3);
  const Tensor of_input = c.empty(3 * h), of_state = c.empty(3 * h);
  for (const bool both : {false, true}) {
    const Tensor grad = one.clone();
    auto operands = in;
    operands.push_back(values(one));
    operands.push_back(values(both ? two : zeros_like(two)));
    REQUIRE(table
                .gru_cell_backward(of_input.data_ptr(), of_state.data_ptr(), grad.data_ptr(),
                                   both ? two.data_ptr() : nullptr, gates.data_ptr(),
                                   kept.data_ptr(), before.data_ptr(), c.args(), stream)
                .ok());
    for (size_t k = 0; k < 7; ++k) {
      const auto place = static_cast<int64_t>(k);
      check_elements(c,
                     k < 3   ? c.part(of_input, place)
                     : k < 6 ? c.part(of_state, place - 3)
                             : values(grad),
                     operands, [k](const Numbers& x) { return slope(gru, x, k, {x[7] + x[8]}); });
    }
  }
}

// One element, tails of a packet, rows that the threads divide.
constexpr int64_t kShapes[][2] = {{1, 1}, {3, 7}, {2, 16}, {5, 37}, {40, 130}, {0, 4}};
constexpr ScalarType kTypes[] = {kFloat, kDouble, kHalf, kBFloat16};

}  // namespace

TEST_CASE("a step of LSTM and its gradients follow the equations") {
  for (const auto& shape : kShapes) {
    for (const ScalarType dtype : kTypes) check_lstm({shape[0], shape[1], dtype});
  }
}
TEST_CASE("a step of GRU and its gradients follow the equations") {
  for (const auto& shape : kShapes) {
    for (const ScalarType dtype : kTypes) check_gru({shape[0], shape[1], dtype});
  }
}
TEST_CASE("a step of a recurrent layer takes floating numbers only") {
  const kernels::Stream stream = kernels::stream_for(kCPU);
  const Tensor any = zeros({1, 4}, kLong);
  CHECK(kernels::cpu_table()
            .lstm_cell_forward(any.data_ptr(), any.data_ptr(), any.data_ptr(), any.data_ptr(),
                               {kLong, 1, 1}, stream)
            .code == kernels::Code::kUnsupported);
}
