#include <cmath>

#include "taper/kernels/cpu/optimizer_list.h"
#include "taper/kernels/cpu/reduce_rows.h"

// SGD, Adam, AdamW, RMSprop and Adagrad: one pass over parameter, gradient and state, with
// PyTorch's rules and its order of operations. Numbers that do not change within a tensor are
// computed in double.

TAPER_CPU_BEGIN

namespace {

bool overflowed(const OptimizerArgs& args) { return args.found_inf && *args.found_inf != 0; }

/// What the gradient is multiplied by before anything else: the loss scale undone, the direction.
double gradient_factor(const OptimizerArgs& args) {
  const double scale = args.inv_scale ? static_cast<double>(*args.inv_scale) : 1;
  return args.maximize ? -scale : scale;
}

/// a + weight * (b - a), from the nearer end, as lerp.
template <class V>
TAPER_INLINE V lerp(V a, V b, double weight) {
  return weight < 0.5 ? fma(V(weight), b - a, a) : b - (b - a) * V(1 - weight);
}

template <class T>
void sgd_run(const OptimizerArgs& args, const TensorRef& tensor, int64_t first, int64_t last) {
  using V = packet_t<T>;
  T* param = static_cast<T*>(tensor.param) + first;
  const T* grad = static_cast<const T*>(tensor.grad) + first;
  T* buffer = args.momentum != 0 ? static_cast<T*>(tensor.state[0]) + first : nullptr;
  const V factor(gradient_factor(args)), decay(args.weight_decay), step(-args.lr);
  const V momentum(args.momentum), undamped(1 - args.dampening);
  const bool fresh = tensor.step == 1;
  for_packets<T>(last - first, [&](int64_t i, auto packet) {
    const V p = packet.load(param + i);
    V g = packet.load(grad + i) * factor;
    if (args.weight_decay != 0) g = fma(p, decay, g);
    if (buffer) {
      const V b = fresh ? g : fma(g, undamped, packet.load(buffer + i) * momentum);
      packet.store(buffer + i, b);
      g = args.nesterov ? fma(b, momentum, g) : b;
    }
    packet.store(param + i, fma(g, step, p));
  });
}

/// What Adam's step needs besides the tensors; depends on the step alone.
struct AdamScalars {
  double step = -1;
  double step_size;      ///< lr / (1 - beta1^step)
  double inv_root_bias;  ///< 1 / sqrt(1 - beta2^step)

  void set(const OptimizerArgs& args, double new_step) {
    if (step == new_step) return;
    step = new_step;
    step_size = args.lr / (1 - std::pow(args.beta1, step));
    inv_root_bias = 1 / std::sqrt(1 - std::pow(args.beta2, step));
  }
};

template <class T, bool kAmsgrad>
void adam_run(const OptimizerArgs& args, const AdamScalars& scalars, const TensorRef& tensor,
              int64_t first, int64_t last) {
  using V = packet_t<T>;
  T* param = static_cast<T*>(tensor.param) + first;
  const T* grad = static_cast<const T*>(tensor.grad) + first;
  T* mean = static_cast<T*>(tensor.state[0]) + first;
  T* square = static_cast<T*>(tensor.state[1]) + first;
  T* highest = kAmsgrad ? static_cast<T*>(tensor.state[2]) + first : nullptr;
  const V factor(gradient_factor(args));
  const V decay(args.weight_decay), shrink(1 - args.lr * args.weight_decay);
  const bool into_gradient = args.weight_decay != 0 && !args.decoupled;
  const bool onto_weight = args.weight_decay != 0 && args.decoupled;
  const V beta2(args.beta2), rest2(1 - args.beta2), eps(args.eps);
  const V inv_root_bias(scalars.inv_root_bias), step(-scalars.step_size);
  const double weight1 = 1 - args.beta1;
  for_packets<T>(last - first, [&](int64_t i, auto packet) {
    V p = packet.load(param + i);
    V g = packet.load(grad + i) * factor;
    if (into_gradient) g = fma(p, decay, g);
    if (onto_weight) p = p * shrink;
    const V m = lerp(packet.load(mean + i), g, weight1);
    V s = fma(rest2 * g, g, packet.load(square + i) * beta2);
    packet.store(mean + i, m);
    packet.store(square + i, s);
    if constexpr (kAmsgrad) {
      s = maximum(packet.load(highest + i), s);
      packet.store(highest + i, s);
    }
    packet.store(param + i, p + step * m / fma(sqrt(s), inv_root_bias, eps));
  });
}

template <class T>
void rmsprop_run(const OptimizerArgs& args, const TensorRef& tensor, int64_t first, int64_t last) {
  using V = packet_t<T>;
  const auto state = [&](int k, bool is_used) {
    return is_used ? static_cast<T*>(tensor.state[k]) + first : nullptr;
  };
  T* param = static_cast<T*>(tensor.param) + first;
  const T* grad = static_cast<const T*>(tensor.grad) + first;
  T* square = state(0, true);
  T* buffer = state(1, args.momentum > 0);
  T* mean = state(2, args.centered);
  const V factor(gradient_factor(args)), decay(args.weight_decay), step(-args.lr);
  const V alpha(args.alpha), rest(1 - args.alpha), eps(args.eps), momentum(args.momentum);
  for_packets<T>(last - first, [&](int64_t i, auto packet) {
    const V p = packet.load(param + i);
    V g = packet.load(grad + i) * factor;
    if (args.weight_decay != 0) g = fma(p, decay, g);
    V s = fma(rest * g, g, packet.load(square + i) * alpha);
    packet.store(square + i, s);
    if (mean) {
      const V m = lerp(packet.load(mean + i), g, 1 - args.alpha);
      packet.store(mean + i, m);
      s = s - m * m;
    }
    const V root = sqrt(s) + eps;
    if (buffer) {
      const V b = packet.load(buffer + i) * momentum + g / root;
      packet.store(buffer + i, b);
      packet.store(param + i, fma(b, step, p));
    } else {
      packet.store(param + i, p + step * g / root);
    }
  });
}

template <class T>
void adagrad_run(const OptimizerArgs& args, const TensorRef& tensor, int64_t first, int64_t last) {
  using V = packet_t<T>;
  T* param = static_cast<T*>(tensor.param) + first;
  const T* grad = static_cast<const T*>(tensor.grad) + first;
  T* sum = static_cast<T*>(tensor.state[0]) + first;
  const V factor(gradient_factor(args)), decay(args.weight_decay), eps(args.eps);
  const V step(-args.lr / (1 + (tensor.step - 1) * args.lr_decay));
  for_packets<T>(last - first, [&](int64_t i, auto packet) {
    const V p = packet.load(param + i);
    V g = packet.load(grad + i) * factor;
    if (args.weight_decay != 0) g = fma(p, decay, g);
    const V s = fma(g, g, packet.load(sum + i));
    packet.store(sum + i, s);
    packet.store(param + i, p + step * g / (sqrt(s) + eps));
  });
}

/// run(T(), tensor, first, last) over all elements of all tensors, unless the gradients overflowed.
template <class Run>
Status step_elements(const OptimizerArgs& args, const Stream& stream, const Run& run) {
  if (overflowed(args)) return {};
  return for_floating(args.dtype, [&](auto element) {
    return for_elements(args, stream, [&](const TensorRef& tensor, int64_t first, int64_t last) {
      run(element, tensor, first, last);
    });
  });
}

}  // namespace

Status sgd_step(const OptimizerArgs& args, Stream stream) {
  return step_elements(args, stream,
                       [&]<class T>(T, const auto&... part) { sgd_run<T>(args, part...); });
}

Status rmsprop_step(const OptimizerArgs& args, Stream stream) {
  return step_elements(args, stream,
                       [&]<class T>(T, const auto&... part) { rmsprop_run<T>(args, part...); });
}

Status adagrad_step(const OptimizerArgs& args, Stream stream) {
  return step_elements(args, stream,
                       [&]<class T>(T, const auto&... part) { adagrad_run<T>(args, part...); });
}

Status adam_step(const OptimizerArgs& args, Stream stream) {
  if (overflowed(args)) return {};
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    const TensorList list(args, 1, stream);
    if (!list.ok()) return list.failure();
    parallel_for(stream, list.units(), kOptimizerGrain, [&](int64_t begin, int64_t end) {
      AdamScalars scalars;
      list.walk(begin, end, [&](const TensorRef& tensor, int64_t first, int64_t last) {
        scalars.set(args, tensor.step);
        args.amsgrad ? adam_run<T, true>(args, scalars, tensor, first, last)
                     : adam_run<T, false>(args, scalars, tensor, first, last);
      });
    });
    return Status{};
  });
}

TAPER_CPU_END
