#include "taper/kernels/cuda/cell.h"
#include "taper/kernels/cuda/kernels.h"

// A step of a GRU: what stands between the matrix products, in one pass over the state.

namespace taper::kernels::cuda {

namespace {

using functors::sigmoid;

template <class T>
struct GruForward {
  T *hidden, *gates, *new_from_hidden;
  const T *from_hidden, *hidden_before;
};

// On a multiprocessor: with 80 registers nothing of float64 is spilled.
constexpr int kGruBlocks = 6;

template <class T, int N>
__global__ void __launch_bounds__(kCellBlock, kGruBlocks)
    gru_cell_packs(GruForward<T> it, unsigned steps, unsigned size) {
  using C = compute_t<T>;
  for_cells<N, 3>(steps, size, [&](unsigned at, unsigned gate) {
    C reset[N], update[N], fresh[N], share[N];
    load_pack<N>(reset, it.gates + gate);
    load_pack<N>(share, it.from_hidden + gate);
#pragma unroll
    for (int k = 0; k < N; ++k) reset[k] = sigmoid(reset[k] + share[k]);
    store_pack<N>(it.gates + gate, reset);
    load_pack<N>(fresh, it.gates + gate + 2 * size);
    load_pack<N>(share, it.from_hidden + gate + 2 * size);
    if (it.new_from_hidden) store_pack<N>(it.new_from_hidden + at, share);
#pragma unroll
    for (int k = 0; k < N; ++k) fresh[k] = functors::tanh(reset[k] * share[k] + fresh[k]);
    store_pack<N>(it.gates + gate + 2 * size, fresh);
    load_pack<N>(update, it.gates + gate + size);
    load_pack<N>(share, it.from_hidden + gate + size);
#pragma unroll
    for (int k = 0; k < N; ++k) update[k] = sigmoid(update[k] + share[k]);
    store_pack<N>(it.gates + gate + size, update);
    load_pack<N>(share, it.hidden_before + at);
#pragma unroll
    for (int k = 0; k < N; ++k) share[k] = update[k] * (share[k] - fresh[k]) + fresh[k];
    store_pack<N>(it.hidden + at, share);
  });
}

template <class T>
struct GruBackward {
  T *grad_from_input, *grad_from_hidden, *grad_hidden;
  const T *grad_hidden_too, *gates, *new_from_hidden, *hidden_before;
};

template <class T, int N>
__global__ void __launch_bounds__(kCellBlock)
    gru_cell_backward_packs(GruBackward<T> it, unsigned steps, unsigned size) {
  using C = compute_t<T>;
  for_cells<N, 3>(steps, size, [&](unsigned at, unsigned gate) {
    C g[N], too[N], update[N], fresh[N], of_fresh[N], a[N], b[N];
    load_pack<N>(g, it.grad_hidden + at);
    load_pack_or<N>(too, it.grad_hidden_too, at, 0);
    load_pack<N>(update, it.gates + gate + size);
    load_pack<N>(fresh, it.gates + gate + 2 * size);
    load_pack<N>(a, it.hidden_before + at);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      g[k] += too[k];
      of_fresh[k] = g[k] * (1 - update[k]) * (1 - fresh[k] * fresh[k]);
      a[k] = g[k] * (a[k] - fresh[k]) * update[k] * (1 - update[k]);
      g[k] *= update[k];
    }
    store_pack<N>(it.grad_hidden + at, g);
    store_pack<N>(it.grad_from_input + gate + size, a);
    store_pack<N>(it.grad_from_hidden + gate + size, a);
    store_pack<N>(it.grad_from_input + gate + 2 * size, of_fresh);
    load_pack<N>(a, it.gates + gate);  // reset
    load_pack<N>(b, it.new_from_hidden + at);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      b[k] = of_fresh[k] * b[k] * a[k] * (1 - a[k]);
      a[k] *= of_fresh[k];
    }
    store_pack<N>(it.grad_from_input + gate, b);
    store_pack<N>(it.grad_from_hidden + gate, b);
    store_pack<N>(it.grad_from_hidden + gate + 2 * size, a);
  });
}

}  // namespace

Status gru_cell_forward(void* hidden, void* gates, void* new_from_hidden, const void* from_hidden,
                        const void* hidden_before, const RecurrentCellArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    const bool aligned = aligned_16(hidden, gates, new_from_hidden, from_hidden, hidden_before);
    return for_cell_batches<T, 3>(
        args, aligned, stream, [&](int64_t row, int64_t steps, unsigned blocks, auto width) {
          const int64_t at = row * args.hidden;
          const GruForward<T> it{static_cast<T*>(hidden) + at, static_cast<T*>(gates) + 3 * at,
                                 moved(static_cast<T*>(new_from_hidden), at),
                                 static_cast<const T*>(from_hidden) + 3 * at,
                                 static_cast<const T*>(hidden_before) + at};
          return launch(stream, gru_cell_packs<T, width>, blocks, kCellBlock, 0, it, steps,
                        args.hidden);
        });
  });
}

Status gru_cell_backward(void* grad_from_input, void* grad_from_hidden, void* grad_hidden,
                         const void* grad_hidden_too, const void* gates,
                         const void* new_from_hidden, const void* hidden_before,
                         const RecurrentCellArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    const bool aligned = aligned_16(grad_from_input, grad_from_hidden, grad_hidden, grad_hidden_too,
                                    gates, new_from_hidden, hidden_before);
    return for_cell_batches<T, 3>(
        args, aligned, stream, [&](int64_t row, int64_t steps, unsigned blocks, auto width) {
          const int64_t at = row * args.hidden;
          const GruBackward<T> it{static_cast<T*>(grad_from_input) + 3 * at,
                                  static_cast<T*>(grad_from_hidden) + 3 * at,
                                  static_cast<T*>(grad_hidden) + at,
                                  moved(static_cast<const T*>(grad_hidden_too), at),
                                  static_cast<const T*>(gates) + 3 * at,
                                  static_cast<const T*>(new_from_hidden) + at,
                                  static_cast<const T*>(hidden_before) + at};
          return launch(stream, gru_cell_backward_packs<T, width>, blocks, kCellBlock, 0, it, steps,
                        args.hidden);
        });
  });
}

}  // namespace taper::kernels::cuda
