#include "values.h"

using namespace cuda_tests;

namespace {

struct Shape {
  int64_t batch, hidden;
};
const Shape kShapes[] = {{0, 4}, {1, 1}, {3, 5}, {4, 8}, {2, 24}, {7, 64}, {3, 130}};

template <class T>
void close(Twin<T>& twin) {
  check_close(twin, 2 * tolerance<T>(), tolerance<T>());
}

}  // namespace

TEMPLATE_TEST_CASE("a step of an LSTM on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  for (const auto& [batch, hidden] : kShapes) {
    for (const int64_t shift : {0, 1}) {
      INFO(batch << " x " << hidden << ", shift " << shift);
      const RecurrentCellArgs args{dtype_of<T>, batch, hidden};
      const int64_t n = batch * hidden + shift;
      Twin<T> gates(numbers<T>(4 * batch * hidden, 31)), before(numbers<T>(n, 32));
      Twin<T> hidden_state(before.size()), cell(before.size());
      on_both([&](const KernelTable& table, Stream stream, bool device) {
        return table.lstm_cell_forward(side(hidden_state, device, shift), side(cell, device, shift),
                                       side(gates, device), side(before, device, shift), args,
                                       stream);
      });
      close(gates);
      close(cell);
      close(hidden_state);
      gates.upload();
      cell.upload();
      Twin<T> grad_hidden(numbers<T>(n, 33)), too(numbers<T>(n, 34));
      Twin<T> grad_gates(gates.size());
      for (const int given : {0, 1, 2, 3}) {  // which of the two parts
        Twin<StatisticsOf<T>> grad_cell(numbers<StatisticsOf<T>>(n, 35));
        on_both([&](const KernelTable& table, Stream stream, bool device) {
          return table.lstm_cell_backward(side(grad_gates, device), side(grad_cell, device, shift),
                                          given & 1 ? side(grad_hidden, device, shift) : nullptr,
                                          given & 2 ? side(too, device, shift) : nullptr,
                                          side(gates, device), side(cell, device, shift),
                                          side(before, device, shift), args, stream);
        });
        close(grad_gates);
        close(grad_cell);
      }
    }
  }
}

TEST_CASE("the cell of an LSTM may be overwritten by the new one") {
  Twin<float> gates(numbers<float>(4 * 2 * 8, 36)), cell(numbers<float>(16, 37)), hidden(16);
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    return table.lstm_cell_forward(side(hidden, device), side(cell, device), side(gates, device),
                                   side(cell, device), {kFloat, 2, 8}, stream);
  });
  close(cell);
  close(hidden);
}

TEMPLATE_TEST_CASE("a step of a GRU on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  for (const auto& [batch, hidden] : kShapes) {
    for (const int64_t shift : {0, 1}) {
      INFO(batch << " x " << hidden << ", shift " << shift);
      const RecurrentCellArgs args{dtype_of<T>, batch, hidden};
      const int64_t n = batch * hidden + shift;
      Twin<T> gates(numbers<T>(3 * batch * hidden, 41)), share(numbers<T>(3 * batch * hidden, 42));
      Twin<T> before(numbers<T>(n, 43)), hidden_state(before.size()), kept(before.size());
      on_both([&](const KernelTable& table, Stream stream, bool device) {
        return table.gru_cell_forward(side(hidden_state, device, shift), side(gates, device),
                                      shift ? nullptr : side(kept, device), side(share, device),
                                      side(before, device, shift), args, stream);
      });
      close(gates);
      close(kept);
      close(hidden_state);
      gates.upload();
      kept.upload();
      Twin<T> too(numbers<T>(n, 44)), from_input(gates.size()), from_hidden(gates.size());
      for (const bool both : {false, true}) {
        Twin<T> grad_hidden(numbers<T>(n, 45));
        on_both([&](const KernelTable& table, Stream stream, bool device) {
          return table.gru_cell_backward(
              side(from_input, device), side(from_hidden, device), side(grad_hidden, device, shift),
              both ? side(too, device, shift) : nullptr, side(gates, device), side(kept, device),
              side(before, device, shift), args, stream);
        });
        close(from_input);
        close(from_hidden);
        close(grad_hidden);
      }
    }
  }
}
