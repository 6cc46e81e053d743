#include <algorithm>
#include <cmath>

#include "taper/kernels/cpu/reduce_rows.h"

// Softmax and negative log-likelihood in one: the probabilities are never stored.

TAPER_CPU_BEGIN

namespace {

constexpr int64_t kGrain = 8 * 1024;  // elements worth a thread

int64_t row_grain(const CrossEntropyArgs& args) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, args.classes));
}

}  // namespace

Status cross_entropy_forward(void* loss, void* log_sum_exp, const void* logits,
                             const CrossEntropyArgs& args, Stream stream) {
  for (int64_t r = 0; r < args.rows; ++r) {
    const int64_t target = args.target[r];
    if (target != args.ignore_index && (target < 0 || target >= args.classes)) {
      return index_out_of_range(target, args.classes);
    }
  }
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    using C = compute_t<T>;
    parallel_for(stream, args.rows, row_grain(args), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = static_cast<const T*>(logits) + r * args.classes;
        const C top = row_max(row, args.classes);
        const C log_sum = std::log(row_sum_exp<false>(row, args.classes, top));
        static_cast<C*>(log_sum_exp)[r] = top + log_sum;
        // Large logits cancel first: the sum of exps is at least 1 and loses nothing.
        const int64_t target = args.target[r];
        static_cast<C*>(loss)[r] =
            target == args.ignore_index ? C(0) : (top - static_cast<C>(row[target])) + log_sum;
      }
    });
    return Status{};
  });
}

Status cross_entropy_backward(void* grad_logits, const void* grad_row, int64_t grad_stride,
                              double scale, const void* logits, const void* log_sum_exp,
                              const CrossEntropyArgs& args, Stream stream) {
  return for_floating(args.dtype, [&](auto element) {
    using T = decltype(element);
    using C = compute_t<T>;
    using V = packet_t<T>;
    parallel_for(stream, args.rows, row_grain(args), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T* grad = static_cast<T*>(grad_logits) + r * args.classes;
        const T* row = static_cast<const T*>(logits) + r * args.classes;
        const int64_t target = args.target[r];
        if (target == args.ignore_index) {
          std::fill_n(grad, args.classes, T(0.f));
          continue;
        }
        const C factor = static_cast<const C*>(grad_row)[r * grad_stride] * static_cast<C>(scale);
        const C shift = static_cast<const C*>(log_sum_exp)[r];
        // The rounding of a large log_sum_exp would scale all probabilities: then they are summed.
        const bool exact = std::abs(shift) <= 16;
        const C sum = exact ? C(1) : row_sum_exp<false>(row, args.classes, shift);
        for_packets<T>(args.classes, [&](int64_t i, auto packet) {
          packet.store(grad + i, exp(packet.load(row + i) - V(shift)) * V(factor / sum));
        });
        const C distance = static_cast<C>(row[target]) - shift;
        grad[target] = T((exact ? std::expm1(distance) : std::exp(distance) / sum - 1) * factor);
      }
    });
    return Status{};
  });
}

TAPER_CPU_END
