#include <algorithm>

#include "taper/kernels/cpu/elementwise.h"

// Tensors made of nothing, or of a mask: fill, range, triangle.

TAPER_CPU_BEGIN

Status fill(const FillArgs& args, Stream stream) {
  alignas(8) char number[8];
  store_number(number, args.dtype, args.value);
  const auto& plan = args.plan;
  return walk(
      {plan.numel,
       plan.rank,
       plan.sizes,
       1,
       {{args.out, plan.strides[0], args.dtype, false}, {number, nullptr, args.dtype, false}},
       nullptr,
       nullptr,
       kCheapGrain},
      stream);
}

Status range(void* out, ScalarType dtype, int64_t count, Value start, Value step, Value end,
             bool symmetric, Stream stream) {
  return for_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(out);
    parallel_for(stream, count, kCheapGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        if constexpr (std::is_integral_v<T>) {
          // Whole steps wrap; linspace among integers has fractional ones.
          if (!symmetric) {
            to[i] = static_cast<T>(uint64_t(start.i) + uint64_t(i) * uint64_t(step.i));
            continue;
          }
        }
        const bool from_end = symmetric && i >= count / 2;
        const double value = from_end ? end.d - step.d * static_cast<double>(count - 1 - i)
                                      : start.d + step.d * static_cast<double>(i);
        if constexpr (std::is_same_v<T, bool>)
          to[i] = value != 0;
        else
          to[i] = static_cast<T>(value);
      }
    });
    return Status{};
  });
}

Status triangle(void* out, const void* in, ScalarType dtype, int64_t batch, int64_t rows,
                int64_t cols, int64_t diagonal, bool lower, Stream stream) {
  const auto size = static_cast<int64_t>(element_size(dtype));
  const int64_t row_bytes = cols * size;
  if (batch == 0 || row_bytes == 0) return {};
  const int64_t shift = std::clamp(diagonal, -rows, cols) + (lower ? 1 : 0);
  const int64_t grain = std::max<int64_t>(1, kCheapGrain / cols);
  parallel_for(stream, batch * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      char* to = static_cast<char*>(out) + r * row_bytes;
      const char* from = static_cast<const char*>(in) + r * row_bytes;
      // Columns [0, middle) are on one side of the diagonal, the rest on the other.
      const int64_t middle = std::clamp<int64_t>(r % rows + shift, 0, cols) * size;
      const int64_t keep_from = lower ? 0 : middle, keep_to = lower ? middle : row_bytes;
      std::memset(to, 0, static_cast<size_t>(keep_from));
      std::memmove(to + keep_from, from + keep_from, static_cast<size_t>(keep_to - keep_from));
      std::memset(to + keep_to, 0, static_cast<size_t>(row_bytes - keep_to));
    }
  });
  return {};
}

TAPER_CPU_END
