#include "taper/kernels/cuda/cell.h"
#include "taper/kernels/cuda/kernels.h"

// A step of an LSTM: what stands between the matrix products, in one pass over the state.

namespace taper::kernels::cuda {

namespace {

using functors::sigmoid;

template <class T>
struct LstmForward {
  T *hidden, *cell, *gates;
  const T* cell_before;
};

template <class T, int N>
__global__ void __launch_bounds__(kCellBlock)
    lstm_cell_packs(LstmForward<T> it, unsigned steps, unsigned size) {
  using C = compute_t<T>;
  for_cells<N, 4>(steps, size, [&](unsigned at, unsigned gate) {
    C in[N], forget[N], fresh[N], out[N], cell[N];
    load_pack<N>(in, it.gates + gate);
    load_pack<N>(forget, it.gates + gate + size);
    load_pack<N>(fresh, it.gates + gate + 2 * size);
    load_pack<N>(out, it.gates + gate + 3 * size);
    load_pack<N>(cell, it.cell_before + at);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      in[k] = sigmoid(in[k]);
      forget[k] = sigmoid(forget[k]);
      fresh[k] = functors::tanh(fresh[k]);
      cell[k] = forget[k] * cell[k] + in[k] * fresh[k];
    }
    store_pack<N>(it.gates + gate, in);
    store_pack<N>(it.gates + gate + size, forget);
    store_pack<N>(it.gates + gate + 2 * size, fresh);
    store_pack<N>(it.cell + at, cell);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      out[k] = sigmoid(out[k]);
      cell[k] = out[k] * functors::tanh(cell[k]);
    }
    store_pack<N>(it.gates + gate + 3 * size, out);
    store_pack<N>(it.hidden + at, cell);
  });
}

template <class T>
struct LstmBackward {
  T* grad_gates;
  compute_t<T>* grad_cell;
  const T *grad_hidden, *grad_hidden_too, *gates, *cell, *cell_before;
};

template <class T, int N>
__global__ void __launch_bounds__(kCellBlock)
    lstm_cell_backward_packs(LstmBackward<T> it, unsigned steps, unsigned size) {
  using C = compute_t<T>;
  for_cells<N, 4>(steps, size, [&](unsigned at, unsigned gate) {
    C g[N], too[N], c[N], t[N], a[N], b[N];
    load_pack_or<N>(g, it.grad_hidden, at, 0);
    load_pack_or<N>(too, it.grad_hidden_too, at, 0);
    load_pack<N>(t, it.cell + at);
    load_pack<N>(c, it.grad_cell + at);
    load_pack<N>(a, it.gates + gate + 3 * size);  // output
#pragma unroll
    for (int k = 0; k < N; ++k) {
      g[k] += too[k];
      t[k] = functors::tanh(t[k]);
      c[k] += g[k] * a[k] * (1 - t[k] * t[k]);
      a[k] = g[k] * t[k] * a[k] * (1 - a[k]);
    }
    store_pack<N>(it.grad_gates + gate + 3 * size, a);
    load_pack<N>(a, it.gates + gate);             // input
    load_pack<N>(b, it.gates + gate + 2 * size);  // new
#pragma unroll
    for (int k = 0; k < N; ++k) {
      g[k] = c[k] * b[k] * a[k] * (1 - a[k]);
      b[k] = c[k] * a[k] * (1 - b[k] * b[k]);
    }
    store_pack<N>(it.grad_gates + gate, g);
    store_pack<N>(it.grad_gates + gate + 2 * size, b);
    load_pack<N>(a, it.gates + gate + size);  // forget
    load_pack<N>(b, it.cell_before + at);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      b[k] = c[k] * b[k] * a[k] * (1 - a[k]);
      c[k] *= a[k];
    }
    store_pack<N>(it.grad_gates + gate + size, b);
    store_pack<N>(it.grad_cell + at, c);
  });
}

}  // namespace

Status lstm_cell_forward(void* hidden, void* cell, void* gates, const void* cell_before,
                         const RecurrentCellArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    const bool aligned = aligned_16(hidden, cell, gates, cell_before);
    return for_cell_batches<T, 4>(
        args, aligned, stream, [&](int64_t row, int64_t steps, unsigned blocks, auto width) {
          const int64_t at = row * args.hidden;
          const LstmForward<T> it{static_cast<T*>(hidden) + at, static_cast<T*>(cell) + at,
                                  static_cast<T*>(gates) + 4 * at,
                                  static_cast<const T*>(cell_before) + at};
          return launch(stream, lstm_cell_packs<T, width>, blocks, kCellBlock, 0, it, steps,
                        args.hidden);
        });
  });
}

Status lstm_cell_backward(void* grad_gates, void* grad_cell, const void* grad_hidden,
                          const void* grad_hidden_too, const void* gates, const void* cell,
                          const void* cell_before, const RecurrentCellArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    const bool aligned =
        aligned_16(grad_gates, grad_cell, grad_hidden, grad_hidden_too, gates, cell, cell_before);
    return for_cell_batches<T, 4>(
        args, aligned, stream, [&](int64_t row, int64_t steps, unsigned blocks, auto width) {
          const int64_t at = row * args.hidden;
          const LstmBackward<T> it{static_cast<T*>(grad_gates) + 4 * at,
                                   static_cast<compute_t<T>*>(grad_cell) + at,
                                   moved(static_cast<const T*>(grad_hidden), at),
                                   moved(static_cast<const T*>(grad_hidden_too), at),
                                   static_cast<const T*>(gates) + 4 * at,
                                   static_cast<const T*>(cell) + at,
                                   static_cast<const T*>(cell_before) + at};
          return launch(stream, lstm_cell_backward_packs<T, width>, blocks, kCellBlock, 0, it,
                        steps, args.hidden);
        });
  });
}

}  // namespace taper::kernels::cuda
