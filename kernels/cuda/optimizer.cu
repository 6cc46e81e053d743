#include <cmath>
#include <initializer_list>

#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/tensor_list.h"
#include "taper/kernels/functors/math.h"

// SGD, Adam, AdamW, RMSprop and Adagrad over a list of tensors: one pass over parameter, gradient
// and state, with PyTorch's rules and its order of operations. Numbers that do not change within a
// tensor are computed in double, on the host. Nothing here waits for the device: whether to step at
// all is read by the kernel.

namespace taper::kernels::cuda {

namespace {

constexpr int kChunk = 4096;  // elements of a block: 16 a thread
// On a multiprocessor, where packs of halves take up to 80 registers: those of five arrays are
// under way in a thread.
constexpr int kFiveArraysBlocks = 3;

/// What is only known on the device.
struct StepGate {
  const float* found_inf;
  const float* inv_scale;
  const DeviceFault* fault;
  bool maximize;

  /// An overflow, or an index out of range in the passes before, leaves everything as it was.
  __device__ __forceinline__ bool closed() const {
    return (found_inf && *found_inf != 0) || (fault && fault->state != 0);
  }
  /// What the gradient is multiplied by before anything else: the loss scale undone, the direction.
  template <class C>
  __device__ __forceinline__ C factor() const {
    const C scale = inv_scale ? static_cast<C>(*inv_scale) : C(1);
    return maximize ? -scale : scale;
  }
};
StepGate gate_of(const OptimizerArgs& args, const Stream& stream) {
  return {args.found_inf, args.inv_scale, fault_of(stream), args.maximize};
}

struct FirstStep {
  bool value;
};
using SgdBatch = TensorBatch<3, FirstStep>;  // parameter, gradient, momentum

template <class C>
struct SgdNumbers {
  C step, decay, momentum, undamped;
  bool nesterov, has_decay;
};

template <class T>
__global__ void __launch_bounds__(kListBlock)
    sgd_step_chunks(SgdBatch batch, SgdNumbers<compute_t<T>> numbers, StepGate gate) {
  using C = compute_t<T>;
  if (gate.closed()) return;
  const TensorChunk chunk = chunk_of_block(batch);
  T* const param = pointer_of<T>(batch, chunk, 0);
  const T* const grad = pointer_of<const T>(batch, chunk, 1);
  T* const buffer = pointer_of<T>(batch, chunk, 2);
  const bool fresh = batch.extra[chunk.tensor].value;
  const C factor = gate.factor<C>();
  for_chunk<T>(chunk.size, batch.packed[chunk.tensor], [&](int i, auto width) {
    C p[width], g[width], b[width];
    load_pack<width>(p, param + i);
    load_pack<width>(g, grad + i);
    load_pack_or<width, T>(b, fresh ? nullptr : buffer, i, 0);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      g[k] *= factor;
      if (numbers.has_decay) g[k] += p[k] * numbers.decay;
      if (buffer) {
        b[k] = fresh ? g[k] : b[k] * numbers.momentum + g[k] * numbers.undamped;
        g[k] = numbers.nesterov ? g[k] + b[k] * numbers.momentum : b[k];
      }
      p[k] += g[k] * numbers.step;
    }
    if (buffer) store_pack<width>(buffer + i, b);
    store_pack<width>(param + i, p);
  });
}

/// What Adam's step needs besides the tensors; depends on the number of the step.
template <class C>
struct AdamStep {
  C step_size;      ///< -lr / (1 - beta1^step)
  C inv_root_bias;  ///< 1 / sqrt(1 - beta2^step)
};
template <class C>
using AdamBatch = TensorBatch<5, AdamStep<C>>;  // parameter, gradient, mean, square, highest square

template <class C>
struct AdamNumbers {
  C decay, shrink, weight1, beta2, rest2, eps;
  bool into_gradient, onto_weight;
};

/// a + weight * (b - a), from the nearer end, as lerp.
template <class C>
__device__ __forceinline__ C lerp(C a, C b, C weight) {
  return weight < C(0.5) ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

template <class T>
__global__ void __launch_bounds__(kListBlock, kFiveArraysBlocks)
    adam_step_chunks(AdamBatch<compute_t<T>> batch, AdamNumbers<compute_t<T>> numbers,
                     StepGate gate) {
  using C = compute_t<T>;
  if (gate.closed()) return;
  const TensorChunk chunk = chunk_of_block(batch);
  T* const param = pointer_of<T>(batch, chunk, 0);
  const T* const grad = pointer_of<const T>(batch, chunk, 1);
  T* const mean = pointer_of<T>(batch, chunk, 2);
  T* const square = pointer_of<T>(batch, chunk, 3);
  T* const highest = pointer_of<T>(batch, chunk, 4);  // null but for amsgrad
  const AdamStep<C> step = batch.extra[chunk.tensor];
  const C factor = gate.factor<C>();
  for_chunk<T>(chunk.size, batch.packed[chunk.tensor], [&](int i, auto width) {
    C p[width], g[width], m[width], s[width], h[width];
    load_pack<width>(p, param + i);
    load_pack<width>(g, grad + i);
    load_pack<width>(m, mean + i);
    load_pack<width>(s, square + i);
    load_pack_or<width, T>(h, highest, i, 0);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      g[k] *= factor;
      if (numbers.into_gradient) g[k] += p[k] * numbers.decay;
      if (numbers.onto_weight) p[k] *= numbers.shrink;
      m[k] = lerp(m[k], g[k], numbers.weight1);
      s[k] = s[k] * numbers.beta2 + numbers.rest2 * g[k] * g[k];
      h[k] = highest ? functors::maximum(h[k], s[k]) : s[k];
      p[k] += step.step_size * m[k] / (functors::sqrt(h[k]) * step.inv_root_bias + numbers.eps);
    }
    store_pack<width>(mean + i, m);
    store_pack<width>(square + i, s);
    if (highest) store_pack<width>(highest + i, h);
    store_pack<width>(param + i, p);
  });
}

using RmspropBatch = TensorBatch<5, Nothing>;  // parameter, gradient, square, momentum, mean

template <class C>
struct RmspropNumbers {
  C step, decay, alpha, rest, eps, momentum;
  bool has_decay;
};

template <class T>
__global__ void __launch_bounds__(kListBlock, kFiveArraysBlocks)
    rmsprop_step_chunks(RmspropBatch batch, RmspropNumbers<compute_t<T>> numbers, StepGate gate) {
  using C = compute_t<T>;
  if (gate.closed()) return;
  const TensorChunk chunk = chunk_of_block(batch);
  T* const param = pointer_of<T>(batch, chunk, 0);
  const T* const grad = pointer_of<const T>(batch, chunk, 1);
  T* const square = pointer_of<T>(batch, chunk, 2);
  T* const buffer = pointer_of<T>(batch, chunk, 3);  // null without momentum
  T* const mean = pointer_of<T>(batch, chunk, 4);    // null but for centered
  const C factor = gate.factor<C>();
  for_chunk<T>(chunk.size, batch.packed[chunk.tensor], [&](int i, auto width) {
    C p[width], g[width], s[width], b[width], m[width];
    load_pack<width>(p, param + i);
    load_pack<width>(g, grad + i);
    load_pack<width>(s, square + i);
    load_pack_or<width, T>(b, buffer, i, 0);
    load_pack_or<width, T>(m, mean, i, 0);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      g[k] *= factor;
      if (numbers.has_decay) g[k] += p[k] * numbers.decay;
      s[k] = s[k] * numbers.alpha + numbers.rest * g[k] * g[k];
      C variance = s[k];
      if (mean) {
        m[k] = lerp(m[k], g[k], numbers.rest);
        variance -= m[k] * m[k];
      }
      const C root = functors::sqrt(variance) + numbers.eps;
      if (buffer) {
        b[k] = b[k] * numbers.momentum + g[k] / root;
        p[k] += b[k] * numbers.step;
      } else {
        p[k] += numbers.step * g[k] / root;
      }
    }
    store_pack<width>(square + i, s);
    if (buffer) store_pack<width>(buffer + i, b);
    if (mean) store_pack<width>(mean + i, m);
    store_pack<width>(param + i, p);
  });
}

/// -lr / (1 + (step - 1) * lr_decay)
template <class C>
struct AdagradStep {
  C size;
};
template <class C>
using AdagradBatch = TensorBatch<3, AdagradStep<C>>;  // parameter, gradient, sum

template <class C>
struct AdagradNumbers {
  C decay, eps;
  bool has_decay;
};

template <class T>
__global__ void __launch_bounds__(kListBlock)
    adagrad_step_chunks(AdagradBatch<compute_t<T>> batch, AdagradNumbers<compute_t<T>> numbers,
                        StepGate gate) {
  using C = compute_t<T>;
  if (gate.closed()) return;
  const TensorChunk chunk = chunk_of_block(batch);
  T* const param = pointer_of<T>(batch, chunk, 0);
  const T* const grad = pointer_of<const T>(batch, chunk, 1);
  T* const sum = pointer_of<T>(batch, chunk, 2);
  const C step = batch.extra[chunk.tensor].size;
  const C factor = gate.factor<C>();
  for_chunk<T>(chunk.size, batch.packed[chunk.tensor], [&](int i, auto width) {
    C p[width], g[width], s[width];
    load_pack<width>(p, param + i);
    load_pack<width>(g, grad + i);
    load_pack<width>(s, sum + i);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      g[k] *= factor;
      if (numbers.has_decay) g[k] += p[k] * numbers.decay;
      s[k] += g[k] * g[k];
      p[k] += step * g[k] / (functors::sqrt(s[k]) + numbers.eps);
    }
    store_pack<width>(sum + i, s);
    store_pack<width>(param + i, p);
  });
}

/// The kernel over all tensors of the list: parameter, gradient, and as many arrays of the state as
/// `uses` has places, null where that says so. set_own(tensor, own) makes what is the tensor's own.
template <class Batch, class Numbers, class SetOwn>
Status step_tensors(void (*kernel)(Batch, Numbers, StepGate), const Numbers& numbers,
                    const OptimizerArgs& args, const Stream& stream,
                    std::initializer_list<bool> uses, const SetOwn& set_own) {
  return for_tensor_batches<Batch>(
      args, kChunk,
      [&](const TensorRef& tensor, void** pointers, auto& own) {
        *pointers++ = tensor.param;
        *pointers++ = const_cast<void*>(tensor.grad);
        int k = 0;
        for (const bool is_used : uses) {
          *pointers++ = is_used ? tensor.state[k] : nullptr;
          ++k;
        }
        set_own(tensor, own);
      },
      [&](const Batch& batch, unsigned blocks) {
        return launch(stream, kernel, blocks, kListBlock, 0, batch, numbers, gate_of(args, stream));
      });
}

}  // namespace

Status sgd_step(const OptimizerArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    const SgdNumbers<C> numbers{static_cast<C>(-args.lr),
                                static_cast<C>(args.weight_decay),
                                static_cast<C>(args.momentum),
                                static_cast<C>(1 - args.dampening),
                                args.nesterov,
                                args.weight_decay != 0};
    return step_tensors(
        sgd_step_chunks<T>, numbers, args, stream, {args.momentum != 0},
        [](const TensorRef& tensor, FirstStep& first) { first.value = tensor.step == 1; });
  });
}

Status adam_step(const OptimizerArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    const AdamNumbers<C> numbers{static_cast<C>(args.weight_decay),
                                 static_cast<C>(1 - args.lr * args.weight_decay),
                                 static_cast<C>(1 - args.beta1),
                                 static_cast<C>(args.beta2),
                                 static_cast<C>(1 - args.beta2),
                                 static_cast<C>(args.eps),
                                 args.weight_decay != 0 && !args.decoupled,
                                 args.weight_decay != 0 && args.decoupled};
    double known = -1;  // most tensors are at the same step
    AdamStep<C> of_step{};
    return step_tensors(adam_step_chunks<T>, numbers, args, stream, {true, true, args.amsgrad},
                        [&](const TensorRef& tensor, AdamStep<C>& step) {
                          if (tensor.step != known) {
                            known = tensor.step;
                            of_step = {
                                static_cast<C>(-args.lr / (1 - std::pow(args.beta1, known))),
                                static_cast<C>(1 / std::sqrt(1 - std::pow(args.beta2, known)))};
                          }
                          step = of_step;
                        });
  });
}

Status rmsprop_step(const OptimizerArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    const RmspropNumbers<C> numbers{static_cast<C>(-args.lr),   static_cast<C>(args.weight_decay),
                                    static_cast<C>(args.alpha), static_cast<C>(1 - args.alpha),
                                    static_cast<C>(args.eps),   static_cast<C>(args.momentum),
                                    args.weight_decay != 0};
    return step_tensors(rmsprop_step_chunks<T>, numbers, args, stream,
                        {true, args.momentum > 0, args.centered},
                        [](const TensorRef&, Nothing&) {});
  });
}

Status adagrad_step(const OptimizerArgs& args, Stream stream) {
  return for_floating(args.dtype, [&]<class T>(T) {
    using C = compute_t<T>;
    const AdagradNumbers<C> numbers{static_cast<C>(args.weight_decay), static_cast<C>(args.eps),
                                    args.weight_decay != 0};
    return step_tensors(adagrad_step_chunks<T>, numbers, args, stream, {true},
                        [&](const TensorRef& tensor, AdagradStep<C>& step) {
                          step.size =
                              static_cast<C>(-args.lr / (1 + (tensor.step - 1) * args.lr_decay));
                        });
  });
}

}  // namespace taper::kernels::cuda
