#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/core/rng_state.h"
#include "taper/kernels/ops.h"
#include "taper/kernels/plan.h"
#include "taper/kernels/status.h"

// The contract: all that a device must be able to do with tensor data, on one page. The op layer
// checks shapes, dtypes and devices, and allocates outputs, before it calls; kernels may rely on
// that. Pointers are device pointers. Outputs come first. Nothing here throws. Null table entries
// are not allowed: a device without a kernel answers `unsupported()`.

namespace taper::kernels {

/// What the core lends a kernel: modules import no symbol of the core.
struct HostServices {
  /// Runs body(context, begin, end) over [0, count) in pieces of at least `grain`, on the calling
  /// thread and the pool; the pieces depend on count, grain and the number of threads alone. Serial
  /// when nested.
  void (*parallel_for)(int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t),
                       void* context);
  int (*num_threads)();
  /// Scratch memory, 64-byte aligned, from the core's cache. Null when there is none.
  void* (*allocate)(size_t bytes);
  void (*release)(void* memory, size_t bytes);
};

/// An ordered queue of work on one device. On the CPU everything has run when a call returns.
struct Stream {
  const HostServices* host;
  void* handle = nullptr;
  int32_t device = 0;
  /// Who reads indices here, for the message about one out of range, which a device may find after
  /// the call: "gather", or "nll_loss: Target" with the indices' own name. Lives for ever.
  const char* op = nullptr;
};

template <class Op, int N>
struct ElementwiseArgs {
  Op op;
  ScalarType dtype;      ///< of the inputs (Where: of b and c; a is bool)
  ScalarType out_dtype;  ///< kBool for the ops that answer yes or no, else `dtype`
  void* out;
  const void* in[N];
  /// Bit k set: operand k is one number, passed in `scalar`; in[k] and its strides are not read. At
  /// most one bit, and only in binary ops, and in Where for b or c.
  uint32_t scalar_mask;
  Value scalar;
  Value p[3];   ///< the op's parameters
  Value alpha;  ///< Add and Sub; 1 elsewhere
  ElementwisePlan<N> plan;
};
using UnaryArgs = ElementwiseArgs<UnaryOp, 1>;
using BinaryArgs = ElementwiseArgs<BinaryOp, 2>;
using TernaryArgs = ElementwiseArgs<TernaryOp, 3>;

struct CopyArgs {
  ScalarType out_dtype, in_dtype;
  void* out;
  const void* in;
  ElementwisePlan<1> plan;
};

struct FillArgs {
  ScalarType dtype;
  void* out;
  Value value;
  ElementwisePlan<0> plan;
};

struct ReduceArgs {
  ReduceOp op;
  ScalarType dtype, out_dtype;
  void* out;
  const void* in;
  Value p;
  ReducePlan plan;
};

/// Rows that one index tensor picks from a dense tensor seen as [outer, size, inner].
struct IndexAxisArgs {
  ScalarType dtype;
  ScalarType index_dtype;  ///< kInt or kLong
  int64_t outer, size, inner;
  int64_t count;  ///< number of indices, each in [0, size)
  const void* index;
};

/// Advanced indexing. The tensor is walked at `plan` positions; on top of its ordinary stride comes
/// the sum over k of index_k * index_strides[k]. Plan operands: 0 the values (dense or strided), 1
/// the tensor with stride 0 along indexed positions, and each index tensor by its own strides,
/// given beside.
constexpr int kMaxIndexTensors = 8;
struct AdvancedIndexArgs {
  ScalarType dtype;
  void* self;               ///< read by get, written by put
  void* values;             ///< written by get, read by put
  ElementwisePlan<1> plan;  ///< operand 0: values, operand 1: self
  int32_t count;            ///< number of index tensors (all kLong)
  const int64_t* indices[kMaxIndexTensors];
  int64_t index_strides[kMaxIndexTensors]
                       [kMaxRank];         ///< of index tensor k over the plan's dimensions
  int64_t self_sizes[kMaxIndexTensors];    ///< size of the indexed dimension; -size <= index < size
  int64_t self_strides[kMaxIndexTensors];  ///< stride of it, in elements
};

/// gather, scatter along one dimension. Shapes of index (and out or src) over the plan; the indexed
/// dimension's coordinate comes from the index. Plan operands: 0 out (gather) or src (scatter), 1
/// index, 2 self with stride 0 in the indexed dimension.
struct GatherArgs {
  ScalarType dtype;
  void* self;
  void* values;  ///< gather: written; scatter: read
  const int64_t* index;
  int64_t size, stride;  ///< of self's indexed dimension
  bool scalar_source;    ///< scatter: `scalar` instead of values
  Value scalar;
  ScatterOp op;
  ElementwisePlan<2> plan;
};

/// Sorts rows of `size` elements: [outer, size, inner] in, same layout out. NaN counts as largest.
struct SortArgs {
  ScalarType dtype;
  AxisPlan axis;
  int64_t
      k;  ///< how many are kept: `size` to sort, less for top-k (then out has [outer, k, inner])
  bool descending, stable;
  void* values;
  int64_t* indices;
  const void* in;
};

struct SoftmaxArgs {
  ScalarType dtype;
  AxisPlan axis;
  bool log;
};

/// Rows of `size` features; statistics are float (double for double).
struct LayerNormArgs {
  ScalarType dtype;
  int64_t rows, size;
  double eps;
  const void* weight;  ///< null: 1
  const void* bias;    ///< null: 0
};

/// [batch, channels, inner], statistics per channel; mean, rstd and running buffers have `dtype`'s
/// statistics type (float for halves).
struct BatchNormArgs {
  ScalarType dtype;
  int64_t batch, channels, inner;
  double eps;
  const void* weight;
  const void* bias;
};

/// Logits [rows, classes]; the target is a class per row, `ignore_index` rows count for nothing.
struct CrossEntropyArgs {
  ScalarType dtype;
  int64_t rows, classes;
  const int64_t* target;
  int64_t ignore_index;
};

/// One step of a recurrent layer; all operands are dense rows of `batch`.
struct RecurrentCellArgs {
  ScalarType dtype;
  int64_t batch, hidden;
};

struct RandomArgs {
  RandomOp op;
  ScalarType dtype;
  void* out;  ///< dense
  int64_t numel;
  Value p[2];
  void* generator;  ///< CpuRngState* on the CPU, CudaRngState* (host memory) on CUDA
  /// kBernoulli only, else null: a probability per element (dense, floating) instead of p0.
  const void* probabilities = nullptr;
  ScalarType probabilities_dtype = ScalarType::Undefined;
};

/// A list of tensors for one pass of an optimizer, all of one dtype and dense.
struct TensorRef {
  void* param;
  const void* grad;
  /// sgd: momentum buffer; adam: exp_avg, exp_avg_sq, max_exp_avg_sq (amsgrad); rmsprop:
  /// square_avg, momentum buffer, grad_avg (centered); adagrad: sum.
  void* state[3];
  int64_t numel;
  /// Number of this step, from 1 (adam, adagrad); 1 marks the first momentum step (sgd).
  double step;
};

/// Where `found_inf` is given and *found_inf != 0, nothing is written. `inv_scale` (a float on the
/// device) multiplies the gradients when given.
struct OptimizerArgs {
  ScalarType dtype;
  const TensorRef* tensors;
  int64_t count;
  const float* found_inf;
  const float* inv_scale;
  double lr, weight_decay;
  bool maximize;
  double eps;               ///< all but sgd
  double momentum;          ///< sgd, rmsprop
  double dampening;         ///< sgd
  bool nesterov;            ///< sgd
  double beta1, beta2;      ///< adam
  bool decoupled, amsgrad;  ///< adam: decoupled = AdamW
  double alpha;             ///< rmsprop
  bool centered;            ///< rmsprop
  double lr_decay;          ///< adagrad
};

struct KernelTable {
  // Elementwise.
  Status (*copy)(const CopyArgs&, Stream);  ///< out[i] = cast(in[i]); operands do not overlap
  Status (*fill)(const FillArgs&, Stream);
  Status (*unary)(const UnaryArgs&, Stream);
  Status (*binary)(const BinaryArgs&, Stream);
  Status (*ternary)(const TernaryArgs&, Stream);
  /// out[i] = start + i * step (from both ends when `symmetric`, as linspace does), dense.
  Status (*range)(void* out, ScalarType, int64_t count, Value start, Value step, Value end,
                  bool symmetric, Stream);
  /// Keeps the triangle at or below (`lower`) or above the diagonal; the rest becomes 0. Dense
  /// matrices.
  Status (*triangle)(void* out, const void* in, ScalarType, int64_t batch, int64_t rows,
                     int64_t cols, int64_t diagonal, bool lower, Stream);

  // Reductions and scans.
  Status (*reduce)(const ReduceArgs&, Stream);
  /// Values (may be null) and int64 positions along the axis; the first of equals, NaN before all.
  Status (*arg_reduce)(ArgOp, void* values, int64_t* indices, const void* in, ScalarType,
                       const AxisPlan&, Stream);
  /// Mean and variance with `correction` (n - correction in the divisor), Welford. Either out may
  /// be null.
  Status (*var_mean)(void* var, void* mean, const void* in, ScalarType, double correction,
                     const ReducePlan&, Stream);
  /// `indices` for kMax and kMin only, else null. Same dtype in and out.
  Status (*scan)(ScanOp, void* out, int64_t* indices, const void* in, ScalarType, const AxisPlan&,
                 Stream);

  // Order and selection.
  Status (*sort)(const SortArgs&, Stream);
  Status (*index_select)(void* out, const void* self, const IndexAxisArgs&, Stream);
  /// self[outer, index[j], inner] (op)= src[outer, j, inner]; duplicates in ascending j. `padding`
  /// index is skipped (embedding's gradient), -1 for none. kAdd in halves accumulates in float.
  Status (*index_update)(ScatterOp, void* self, const void* src, const IndexAxisArgs&, Value alpha,
                         int64_t padding, Stream);
  Status (*gather)(const GatherArgs&, Stream);
  Status (*scatter)(const GatherArgs&, Stream);
  Status (*index_get)(const AdvancedIndexArgs&, Stream);
  Status (*index_put)(const AdvancedIndexArgs&, bool accumulate, Stream);
  /// Number of nonzero elements of a dense tensor, to host memory; then their coordinates [n,
  /// rank].
  Status (*count_nonzero)(int64_t* host_count, const void* in, ScalarType, int64_t numel, Stream);
  Status (*nonzero)(int64_t* out, const void* in, ScalarType, int rank, const int64_t* sizes,
                    Stream);
  /// out = in where mask (dense, same order), count elements as count_nonzero(mask) said; and back:
  /// self[mask] = src[0, 1, ...] in order.
  Status (*masked_select)(void* out, const void* in, const bool* mask, ScalarType, int64_t numel,
                          Stream);
  Status (*masked_scatter)(void* self, const bool* mask, const void* src, ScalarType, int64_t numel,
                           Stream);
  /// counts[value] += weight (or 1) for int64 values in [0, bins).
  Status (*bincount)(void* counts, const int64_t* in, const void* weights, ScalarType weight_dtype,
                     int64_t numel, int64_t bins, Stream);

  // Matrices, convolution, pooling.
  Status (*gemm)(const GemmPlan&, Stream);
  /// `bias` may be null; `relu` clamps the result at 0.
  Status (*conv_forward)(void* out, const void* in, const void* weight, const void* bias, bool relu,
                         const ConvPlan&, Stream);
  Status (*conv_backward_data)(void* grad_in, const void* grad_out, const void* weight,
                               const ConvPlan&, Stream);
  /// `grad_bias` may be null.
  Status (*conv_backward_weight)(void* grad_weight, void* grad_bias, const void* grad_out,
                                 const void* in, const ConvPlan&, Stream);
  /// `window_index` (may be null): position in the window, uint8, row-major over kernel_h x
  /// kernel_w (needs kernel_h * kernel_w <= 256); `flat_index` (may be null): int64 position in the
  /// input plane. NaN wins.
  Status (*max_pool_forward)(void* out, uint8_t* window_index, int64_t* flat_index, const void* in,
                             const PoolPlan&, Stream);
  /// Exactly one of the two indices is given. With `relu_of` (the pool's output), gradients where
  /// it is not positive are dropped: the backward of relu after or before the pool, for free.
  Status (*max_pool_backward)(void* grad_in, const void* grad_out, const uint8_t* window_index,
                              const int64_t* flat_index, const void* relu_of, const PoolPlan&,
                              Stream);
  Status (*avg_pool_forward)(void* out, const void* in, const PoolPlan&, Stream);
  Status (*avg_pool_backward)(void* grad_in, const void* grad_out, const PoolPlan&, Stream);
  /// Adaptive: window i covers [floor(i*in/out), ceil((i+1)*in/out)); only the plan's sizes are
  /// read.
  Status (*adaptive_avg_pool_forward)(void* out, const void* in, const PoolPlan&, Stream);
  Status (*adaptive_avg_pool_backward)(void* grad_in, const void* grad_out, const PoolPlan&,
                                       Stream);
  /// `scale_h`, `scale_w`: input pixels per output pixel, as the op layer computed them.
  Status (*resize_forward)(ResizeMode, void* out, const void* in, double scale_h, double scale_w,
                           const PoolPlan&, Stream);
  Status (*resize_backward)(ResizeMode, void* grad_in, const void* grad_out, double scale_h,
                            double scale_w, const PoolPlan&, Stream);

  // Rows: softmax, normalisation, losses.
  Status (*softmax_forward)(void* out, const void* in, const SoftmaxArgs&, Stream);
  Status (*softmax_backward)(void* grad_in, const void* grad_out, const void* out,
                             const SoftmaxArgs&, Stream);
  Status (*layer_norm_forward)(void* out, void* mean, void* rstd, const void* in,
                               const LayerNormArgs&, Stream);
  /// Any of the three gradients may be null.
  Status (*layer_norm_backward)(void* grad_in, void* grad_weight, void* grad_bias,
                                const void* grad_out, const void* in, const void* mean,
                                const void* rstd, const LayerNormArgs&, Stream);
  /// Training: statistics of the batch, biased in rstd; running buffers (null: none) move by
  /// `momentum` with the unbiased variance. Evaluation is elementwise from the running buffers.
  Status (*batch_norm_forward)(void* out, void* mean, void* rstd, void* running_mean,
                               void* running_var, double momentum, bool training, const void* in,
                               const BatchNormArgs&, Stream);
  Status (*batch_norm_backward)(void* grad_in, void* grad_weight, void* grad_bias,
                                const void* grad_out, const void* in, const void* mean,
                                const void* rstd, bool training, const BatchNormArgs&, Stream);
  /// loss[row] = log(sum(exp(logits))) - logits[target], 0 for ignored rows; log_sum_exp[row] is
  /// kept for the backward. Both are float (double for double). A target outside the classes is an
  /// index error.
  Status (*cross_entropy_forward)(void* loss, void* log_sum_exp, const void* logits,
                                  const CrossEntropyArgs&, Stream);
  /// grad_logits = (softmax - one_hot) * grad_row[row * grad_stride] * scale, ignored rows 0.
  Status (*cross_entropy_backward)(void* grad_logits, const void* grad_row, int64_t grad_stride,
                                   double scale, const void* logits, const void* log_sum_exp,
                                   const CrossEntropyArgs&, Stream);

  // Recurrent cells: all of a step but its matrix products.
  /// `gates` [batch, 4 * hidden], in the order input, forget, cell, output: sums come in,
  /// activations go out. cell = forget * cell_before + input * gate, hidden = output * tanh(cell);
  /// `cell` may be `cell_before`.
  Status (*lstm_cell_forward)(void* hidden, void* cell, void* gates, const void* cell_before,
                              const RecurrentCellArgs&, Stream);
  /// `grad_gates` is the gradient of the sums. `grad_cell` (float for halves) comes in as the
  /// gradient of the new cell and goes out as that of the old one. The gradient of `hidden` comes
  /// in two parts, of which either may be null.
  Status (*lstm_cell_backward)(void* grad_gates, void* grad_cell, const void* grad_hidden,
                               const void* grad_hidden_too, const void* gates, const void* cell,
                               const void* cell_before, const RecurrentCellArgs&, Stream);
  /// `gates` [batch, 3 * hidden], in the order reset, update, new: the input's share comes in,
  /// activations go out; `from_hidden` is the share of the state. new = tanh(gate + reset *
  /// from_hidden), hidden = new + update * (hidden_before - new). `new_from_hidden` [batch, hidden]
  /// (may be null) keeps the last third of `from_hidden` for the backward.
  Status (*gru_cell_forward)(void* hidden, void* gates, void* new_from_hidden,
                             const void* from_hidden, const void* hidden_before,
                             const RecurrentCellArgs&, Stream);
  /// Gradients of both shares. `grad_hidden` comes in as one part of the gradient of the new state
  /// and goes out as that of the old one, but for what comes by way of `from_hidden`;
  /// `grad_hidden_too`, the other part, may be null.
  Status (*gru_cell_backward)(void* grad_from_input, void* grad_from_hidden, void* grad_hidden,
                              const void* grad_hidden_too, const void* gates,
                              const void* new_from_hidden, const void* hidden_before,
                              const RecurrentCellArgs&, Stream);

  // Random numbers. Same seed, same numbers as PyTorch on that kind of device.
  Status (*random)(const RandomArgs&, Stream);
  /// out = in * mask with mask 1/(1-p) with probability 1-p, else 0; the mask is kept as bytes 0
  /// or 1.
  Status (*dropout_forward)(void* out, uint8_t* mask, const void* in, ScalarType, int64_t numel,
                            double p, void* generator, Stream);
  Status (*dropout_backward)(void* grad_in, const void* grad_out, const uint8_t* mask, ScalarType,
                             int64_t numel, double p, Stream);

  // Optimizers: a few passes over many tensors.
  Status (*sgd_step)(const OptimizerArgs&, Stream);
  Status (*adam_step)(const OptimizerArgs&, Stream);
  Status (*rmsprop_step)(const OptimizerArgs&, Stream);
  Status (*adagrad_step)(const OptimizerArgs&, Stream);
  /// norms[i] = the p-norm of tensors[i].grad (p may be infinite), float (double for double).
  Status (*multi_norm)(void* norms, const OptimizerArgs&, double p, Stream);
  /// tensors[i].param *= factor, or *= *device_factor when that is given (a number of `dtype`).
  Status (*multi_scale)(const OptimizerArgs&, double factor, const void* device_factor, Stream);
  /// Divides gradients by the scale and sets *found_inf to 1 when any is not finite (GradScaler).
  Status (*multi_unscale)(const OptimizerArgs&, float* found_inf, const float* inv_scale, Stream);
  Status (*multi_zero)(const OptimizerArgs&, Stream);  ///< tensors[i].param = 0
};

/// The entries by name, for modules to declare their kernels and to fill their table.
#define TAPER_KERNELS(_)        \
  _(copy)                       \
  _(fill)                       \
  _(unary)                      \
  _(binary)                     \
  _(ternary)                    \
  _(range)                      \
  _(triangle)                   \
  _(reduce)                     \
  _(arg_reduce)                 \
  _(var_mean)                   \
  _(scan)                       \
  _(sort)                       \
  _(index_select)               \
  _(index_update)               \
  _(gather)                     \
  _(scatter)                    \
  _(index_get)                  \
  _(index_put)                  \
  _(count_nonzero)              \
  _(nonzero)                    \
  _(masked_select)              \
  _(masked_scatter)             \
  _(bincount)                   \
  _(gemm)                       \
  _(conv_forward)               \
  _(conv_backward_data)         \
  _(conv_backward_weight)       \
  _(max_pool_forward)           \
  _(max_pool_backward)          \
  _(avg_pool_forward)           \
  _(avg_pool_backward)          \
  _(adaptive_avg_pool_forward)  \
  _(adaptive_avg_pool_backward) \
  _(resize_forward)             \
  _(resize_backward)            \
  _(softmax_forward)            \
  _(softmax_backward)           \
  _(layer_norm_forward)         \
  _(layer_norm_backward)        \
  _(batch_norm_forward)         \
  _(batch_norm_backward)        \
  _(cross_entropy_forward)      \
  _(cross_entropy_backward)     \
  _(lstm_cell_forward)          \
  _(lstm_cell_backward)         \
  _(gru_cell_forward)           \
  _(gru_cell_backward)          \
  _(random)                     \
  _(dropout_forward)            \
  _(dropout_backward)           \
  _(sgd_step)                   \
  _(adam_step)                  \
  _(rmsprop_step)               \
  _(adagrad_step)               \
  _(multi_norm)                 \
  _(multi_scale)                \
  _(multi_unscale)              \
  _(multi_zero)

/// The CPU has one table per instruction set, all from the same sources.
struct CpuModule {
  const char* name;  ///< "v2", "v3", "v4" (x86-64 levels) or "generic"
  KernelTable table;
};

}  // namespace taper::kernels
