#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/log_sum_exp.cuh"
#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"

// Softmax and negative log-likelihood in one: the probabilities are never stored. A row is one pass
// over the logits for the forward and one for the backward, by 8 lanes (a few classes), a warp or a
// block.

namespace taper::kernels::cuda {

namespace {

struct Target {
  const int64_t* classes_of_rows;
  int64_t ignore_index;
  DeviceFault* fault;
  const char* op;
};

enum class Row { kCounts, kIgnored, kFaulty };

/// `reporter`: one thread of the row, which reports a class that does not exist.
__device__ __forceinline__ Row kind_of(int64_t target, const Target& targets, int classes,
                                       bool reporter) {
  if (target == targets.ignore_index) return Row::kIgnored;
  if (target >= 0 && target < classes) return Row::kCounts;
  if (reporter) report_fault(targets.fault, targets.op, target, classes);
  return Row::kFaulty;
}

template <class T, int kThreads>
__device__ __forceinline__ ExpSum<compute_t<T>> row_exp_sum(const T* row, int size, bool packed) {
  ExpSum<compute_t<T>> mine;
  for_row<T, kThreads>(size, packed, [&](int i, auto width) {
    compute_t<T> x[width];
    load_pack<width>(x, row + i);
    mine.add(x);
  });
  return mine.template over<RowGroup<kThreads>>();
}

template <class T, int kThreads>
__global__ void __launch_bounds__(kRowBlock, kRowBlocks)
    cross_entropy_rows(compute_t<T>* loss, compute_t<T>* log_sum_exp, const T* logits, int64_t rows,
                       int classes, bool packed, Target targets) {
  using C = compute_t<T>;
  const int64_t row = RowGroup<kThreads>::row();
  const T* x = logits + row * classes;
  // Threads without a row stay: their warp's shuffles need them.
  const auto all = row_exp_sum<T, kThreads>(x, row < rows ? classes : 0, packed);
  if (row >= rows || RowGroup<kThreads>::thread() != 0) return;
  const C log_sum = functors::log(all.sum);
  log_sum_exp[row] = all.top + log_sum;
  // Large logits cancel first: the sum of exps is at least 1 and loses nothing.
  const int64_t target = targets.classes_of_rows[row];
  const bool counts = kind_of(target, targets, classes, true) == Row::kCounts;
  loss[row] = counts ? (all.top - widen(x[target])) + log_sum : C(0);
}

template <class T, int kThreads>
__global__ void __launch_bounds__(kRowBlock, kRowBlocks)
    cross_entropy_backward_rows(T* grad_logits, const compute_t<T>* grad_row, int64_t grad_stride,
                                compute_t<T> scale, const T* logits,
                                const compute_t<T>* log_sum_exp, int64_t rows, int classes,
                                bool packed, Target targets) {
  using C = compute_t<T>;
  const int64_t row = RowGroup<kThreads>::row();
  const bool there = row < rows;
  const T* in = logits + row * classes;
  T* out = grad_logits + row * classes;
  const int64_t target = there ? targets.classes_of_rows[row] : targets.ignore_index;
  const Row kind = kind_of(target, targets, classes, there && RowGroup<kThreads>::thread() == 0);
  const bool counts = kind == Row::kCounts;
  const C shift = there ? log_sum_exp[row] : C(0);
  const C factor = counts ? grad_row[row * grad_stride] * scale : C(0);
  // The rounding of a large log_sum_exp would scale all probabilities: then they are summed. All
  // rows of a warp go the same way, for its shuffles.
  const bool exact = functors::abs(shift) <= 16;
  C sum = 1;
  if (__syncthreads_or(!exact)) {
    C mine = 0;
    for_row<T, kThreads>(counts ? classes : 0, packed, [&](int i, auto width) {
      C x[width];
      load_pack<width>(x, in + i);
#pragma unroll
      for (int k = 0; k < width; ++k) mine += functors::exp(x[k] - shift);
    });
    mine = RowGroup<kThreads>::reduce(mine, AddFold());
    if (!exact) sum = mine;
  }
  const C scaled = factor / sum;
  for_row<T, kThreads>(there ? classes : 0, packed, [&](int i, auto width) {
    C x[width];
    load_pack_or<width, T>(x, counts ? in : nullptr, i, shift);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const C distance = x[k] - shift;
      C gradient = functors::exp(distance) * scaled;
      if (i + k == target) {
        gradient = (exact ? functors::expm1(distance) : functors::exp(distance) / sum - 1) * factor;
      }
      x[k] = counts ? gradient : C(0);
    }
    store_pack<width>(out + i, x);
  });
}

/// run(std::integral_constant<int, threads>): who shares a row.
template <class T, class Run>
Status choose_threads(int64_t classes, const Run& run) {
  if (classes <= 8 * kPackSize<T>) return run(std::integral_constant<int, 8>());
  if (classes <= 256 * kPackSize<T>) return run(std::integral_constant<int, 32>());
  return run(std::integral_constant<int, kRowBlock>());
}

}  // namespace

Status cross_entropy_forward(void* loss, void* log_sum_exp, const void* logits,
                             const CrossEntropyArgs& args, Stream stream) {
  if (args.rows == 0) return {};
  if (args.classes > kMaxRow) return too_long();
  return for_floating(args.dtype, [&]<class T>(T) {
    const bool packed = args.classes % kPackSize<T> == 0 && aligned_16(logits);
    return choose_threads<T>(args.classes, [&](auto threads) {
      return launch(stream, cross_entropy_rows<T, threads>,
                    ceil_div(args.rows, RowGroup<threads>::kPerBlock), kRowBlock, 0,
                    static_cast<compute_t<T>*>(loss), static_cast<compute_t<T>*>(log_sum_exp),
                    static_cast<const T*>(logits), args.rows, args.classes, packed,
                    Target{args.target, args.ignore_index, fault_of(stream), stream.op});
    });
  });
}

Status cross_entropy_backward(void* grad_logits, const void* grad_row, int64_t grad_stride,
                              double scale, const void* logits, const void* log_sum_exp,
                              const CrossEntropyArgs& args, Stream stream) {
  if (args.rows * args.classes == 0) return {};
  if (args.classes > kMaxRow) return too_long();
  return for_floating(args.dtype, [&]<class T>(T) {
    const bool packed = args.classes % kPackSize<T> == 0 && aligned_16(logits, grad_logits);
    return choose_threads<T>(args.classes, [&](auto threads) {
      return launch(stream, cross_entropy_backward_rows<T, threads>,
                    ceil_div(args.rows, RowGroup<threads>::kPerBlock), kRowBlock, 0,
                    static_cast<T*>(grad_logits), static_cast<const compute_t<T>*>(grad_row),
                    grad_stride, static_cast<compute_t<T>>(scale), static_cast<const T*>(logits),
                    static_cast<const compute_t<T>*>(log_sum_exp), args.rows, args.classes, packed,
                    Target{args.target, args.ignore_index, fault_of(stream), stream.op});
    });
  });
}

}  // namespace taper::kernels::cuda
