#include <algorithm>

#include "taper/kernels/cpu/reduce_rows.h"
#include "taper/kernels/cpu/vec_math.h"
#include "taper/kernels/functors/special.h"

// One step of LSTM and GRU: what stands between the matrix products, in one pass over the state.

TAPER_CPU_BEGIN

namespace {

using functors::sigmoid;

constexpr int64_t kGrain = 2048;  // elements of the state worth a thread; each has 3 to 5 functions

/// Calls body(row, j, packet) for packets that cover all [batch, hidden] elements; the packet loads
/// and stores at column j.
template <class T, class Body>
void for_state(const RecurrentCellArgs& args, const Stream& stream, const Body& body) {
  parallel_for(stream, args.batch * args.hidden, kGrain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin / args.hidden, first = begin - row * args.hidden;
      const int64_t count = std::min(args.hidden - first, end - begin);
      for_packets<T>(count, [&](int64_t j, auto packet) { body(row, first + j, packet); });
      begin += count;
    }
  });
}

template <class T>
Status lstm_forward(T* hidden, T* cell, T* gates, const T* cell_before,
                    const RecurrentCellArgs& args, const Stream& stream) {
  using V = packet_t<T>;
  const int64_t size = args.hidden;
  for_state<T>(args, stream, [&](int64_t row, int64_t j, auto packet) {
    T* gate = gates + row * 4 * size + j;
    const int64_t at = row * size + j;
    const V in = sigmoid(packet.load(gate)), forget = sigmoid(packet.load(gate + size));
    const V fresh = tanh(packet.load(gate + 2 * size)), out = sigmoid(packet.load(gate + 3 * size));
    const V next = fma(forget, packet.load(cell_before + at), in * fresh);
    packet.store(gate, in);
    packet.store(gate + size, forget);
    packet.store(gate + 2 * size, fresh);
    packet.store(gate + 3 * size, out);
    packet.store(cell + at, next);
    packet.store(hidden + at, out * tanh(next));
  });
  return {};
}

template <class T>
Status lstm_backward(T* grad_gates, compute_t<T>* grad_cell, const T* grad_hidden,
                     const T* grad_hidden_too, const T* gates, const T* cell, const T* cell_before,
                     const RecurrentCellArgs& args, const Stream& stream) {
  using V = packet_t<T>;
  const int64_t size = args.hidden;
  for_state<T>(args, stream, [&](int64_t row, int64_t j, auto packet) {
    const T* gate = gates + row * 4 * size + j;
    T* grad = grad_gates + row * 4 * size + j;
    const int64_t at = row * size + j;
    const V one(1), t = tanh(packet.load(cell + at));
    const V in = packet.load(gate), forget = packet.load(gate + size);
    const V fresh = packet.load(gate + 2 * size), out = packet.load(gate + 3 * size);
    V g(0);
    if (grad_hidden) g += packet.load(grad_hidden + at);
    if (grad_hidden_too) g += packet.load(grad_hidden_too + at);
    const V c = fma(g * out, one - t * t, packet.load_terms(grad_cell + at));
    packet.store(grad, c * fresh * in * (one - in));
    packet.store(grad + size, c * packet.load(cell_before + at) * forget * (one - forget));
    packet.store(grad + 2 * size, c * in * (one - fresh * fresh));
    packet.store(grad + 3 * size, g * t * out * (one - out));
    packet.store_terms(grad_cell + at, c * forget);
  });
  return {};
}

template <class T>
Status gru_forward(T* hidden, T* gates, T* new_from_hidden, const T* from_hidden,
                   const T* hidden_before, const RecurrentCellArgs& args, const Stream& stream) {
  using V = packet_t<T>;
  const int64_t size = args.hidden;
  for_state<T>(args, stream, [&](int64_t row, int64_t j, auto packet) {
    T* gate = gates + row * 3 * size + j;
    const T* share = from_hidden + row * 3 * size + j;
    const int64_t at = row * size + j;
    const V reset = sigmoid(packet.load(gate) + packet.load(share));
    const V update = sigmoid(packet.load(gate + size) + packet.load(share + size));
    const V state = packet.load(share + 2 * size);
    const V fresh = tanh(fma(reset, state, packet.load(gate + 2 * size)));
    packet.store(gate, reset);
    packet.store(gate + size, update);
    packet.store(gate + 2 * size, fresh);
    if (new_from_hidden) packet.store(new_from_hidden + at, state);
    packet.store(hidden + at, fma(update, packet.load(hidden_before + at) - fresh, fresh));
  });
  return {};
}

template <class T>
Status gru_backward(T* grad_from_input, T* grad_from_hidden, T* grad_hidden,
                    const T* grad_hidden_too, const T* gates, const T* new_from_hidden,
                    const T* hidden_before, const RecurrentCellArgs& args, const Stream& stream) {
  using V = packet_t<T>;
  const int64_t size = args.hidden;
  for_state<T>(args, stream, [&](int64_t row, int64_t j, auto packet) {
    const int64_t first = row * 3 * size + j, at = row * size + j;
    const V one(1), reset = packet.load(gates + first), update = packet.load(gates + first + size);
    const V fresh = packet.load(gates + first + 2 * size);
    V g = packet.load(grad_hidden + at);
    if (grad_hidden_too) g += packet.load(grad_hidden_too + at);
    const V of_fresh = g * (one - update) * (one - fresh * fresh);
    const V of_reset = of_fresh * packet.load(new_from_hidden + at) * reset * (one - reset);
    const V of_update = g * (packet.load(hidden_before + at) - fresh) * update * (one - update);
    packet.store(grad_from_input + first, of_reset);
    packet.store(grad_from_input + first + size, of_update);
    packet.store(grad_from_input + first + 2 * size, of_fresh);
    packet.store(grad_from_hidden + first, of_reset);
    packet.store(grad_from_hidden + first + size, of_update);
    packet.store(grad_from_hidden + first + 2 * size, of_fresh * reset);
    packet.store(grad_hidden + at, g * update);
  });
  return {};
}

}  // namespace

Status lstm_cell_forward(void* hidden, void* cell, void* gates, const void* cell_before,
                         const RecurrentCellArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    return lstm_forward(static_cast<T*>(hidden), static_cast<T*>(cell), static_cast<T*>(gates),
                        static_cast<const T*>(cell_before), args, stream);
  });
}

Status lstm_cell_backward(void* grad_gates, void* grad_cell, const void* grad_hidden,
                          const void* grad_hidden_too, const void* gates, const void* cell,
                          const void* cell_before, const RecurrentCellArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    return lstm_backward(static_cast<T*>(grad_gates), static_cast<compute_t<T>*>(grad_cell),
                         static_cast<const T*>(grad_hidden), static_cast<const T*>(grad_hidden_too),
                         static_cast<const T*>(gates), static_cast<const T*>(cell),
                         static_cast<const T*>(cell_before), args, stream);
  });
}

Status gru_cell_forward(void* hidden, void* gates, void* new_from_hidden, const void* from_hidden,
                        const void* hidden_before, const RecurrentCellArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    return gru_forward(static_cast<T*>(hidden), static_cast<T*>(gates),
                       static_cast<T*>(new_from_hidden), static_cast<const T*>(from_hidden),
                       static_cast<const T*>(hidden_before), args, stream);
  });
}

Status gru_cell_backward(void* grad_from_input, void* grad_from_hidden, void* grad_hidden,
                         const void* grad_hidden_too, const void* gates,
                         const void* new_from_hidden, const void* hidden_before,
                         const RecurrentCellArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    return gru_backward(static_cast<T*>(grad_from_input), static_cast<T*>(grad_from_hidden),
                        static_cast<T*>(grad_hidden), static_cast<const T*>(grad_hidden_too),
                        static_cast<const T*>(gates), static_cast<const T*>(new_from_hidden),
                        static_cast<const T*>(hidden_before), args, stream);
  });
}

TAPER_CPU_END
