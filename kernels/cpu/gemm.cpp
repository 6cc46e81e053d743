#include <algorithm>
#include <type_traits>
#include <utility>

#include "taper/kernels/cpu/gemm_blocked.h"
#include "taper/kernels/cpu/gemm_transpose.h"
#include "taper/kernels/cpu/gemm_vector.h"

// The entry for matrix products: batches, threads, and the shapes that deserve their own loop.

TAPER_CPU_BEGIN
namespace {

template <class T, class S>
GemmProblem<T, S> make_problem(const GemmPlan& plan, int64_t index) {
  GemmProblem<T, S> g{};
  g.m = plan.m, g.n = plan.n, g.k = plan.k;
  g.a = static_cast<const S*>(plan.a) + index * plan.a_batch_stride;
  g.a_row = plan.a_transposed ? 1 : plan.lda;
  g.a_col = plan.a_transposed ? plan.lda : 1;
  g.b = static_cast<const S*>(plan.b) + index * plan.b_batch_stride;
  g.b_row = plan.b_transposed ? 1 : plan.ldb;
  g.b_col = plan.b_transposed ? plan.ldb : 1;
  if constexpr (std::is_same_v<T, S>) {
    g.c = static_cast<T*>(plan.c) + index * plan.c_batch_stride;
    g.alpha = static_cast<T>(plan.alpha.d);
    g.beta = plan.bias ? T(0) : static_cast<T>(plan.beta.d);
    g.col_bias = static_cast<const T*>(plan.bias);
  }
  g.c_row = plan.ldc, g.c_col = 1;
  return g;
}

/// c[j * stride] = alpha * sum[j] + (bias[j * bias_stride] or beta * c), rounded once.
template <class T, class S>
void store_row(S* c, int64_t stride, const T* sum, int64_t count, const GemmPlan& plan,
               const S* bias, int64_t bias_stride) {
  const T alpha = static_cast<T>(plan.alpha.d), beta = static_cast<T>(plan.beta.d);
  if (bias) {
    for (int64_t j = 0; j < count; ++j) {
      c[j * stride] = S(alpha * sum[j] + static_cast<T>(bias[j * bias_stride]));
    }
  } else if (beta == T(0)) {
    for (int64_t j = 0; j < count; ++j) c[j * stride] = S(alpha * sum[j]);
  } else {
    for (int64_t j = 0; j < count; ++j) {
      c[j * stride] = S(alpha * sum[j] + beta * static_cast<T>(c[j * stride]));
    }
  }
}

/// Part of C: some rows or some columns of one matrix of the batch.
struct Part {
  int64_t row, rows, col, cols;
};
Part part_of(const GemmPlan& plan, int64_t part, int64_t parts) {
  if (parts == 1) return {0, plan.m, 0, plan.n};
  const bool by_rows = plan.m >= plan.n;
  // Cuts fall on multiples of 16, so that parts end on whole vectors.
  const int64_t size = by_rows ? plan.m : plan.n, units = (size + 15) / 16;
  const int64_t begin = std::min(size, units * part / parts * 16);
  const int64_t end = std::min(size, units * (part + 1) / parts * 16);
  if (by_rows) return {begin, end - begin, 0, plan.n};
  return {0, plan.m, begin, end - begin};
}

/// The product that gives rows and columns `part` of g's C, but for the pointer to C.
template <class T, class S>
GemmProblem<T, S> restrict_to(GemmProblem<T, S> g, const Part& part) {
  g.m = part.rows, g.n = part.cols;
  g.a += part.row * g.a_row;
  g.b += part.col * g.b_col;
  if (g.col_bias) g.col_bias += part.col;
  return g;
}

// Halves: sums are kept in a float block of this size and rounded when complete.
constexpr int64_t kFloatRows = 512, kFloatCols = 1024;

template <class S>
int64_t workspace_of(const GemmPlan& plan) {
  using T = acc_t<S>;
  if constexpr (std::is_same_v<T, S>) {
    return gemm_workspace<T>(plan.m, plan.n, plan.k);
  } else {
    const int64_t m = std::min(plan.m, kFloatRows), n = std::min(plan.n, kFloatCols);
    return gemm_workspace<T>(m, n, plan.k) + (m * n + 15) / 16 * 16;
  }
}

template <class S>
void run_part(const GemmPlan& plan, int64_t index, const Part& part, acc_t<S>* workspace) {
  using T = acc_t<S>;
  const GemmProblem<T, S> whole = make_problem<T, S>(plan, index);
  if constexpr (std::is_same_v<T, S>) {
    GemmProblem<T> g = restrict_to(whole, part);
    g.c += part.row * g.c_row + part.col;
    run_gemm(g, workspace);
  } else {
    for (int64_t i = 0; i < part.rows; i += kFloatRows) {
      for (int64_t j = 0; j < part.cols; j += kFloatCols) {
        const Part block{part.row + i, std::min(kFloatRows, part.rows - i), part.col + j,
                         std::min(kFloatCols, part.cols - j)};
        GemmProblem<T, S> g = restrict_to(whole, block);
        g.c = workspace, g.c_row = g.n;
        run_gemm(g, workspace + (g.m * g.n + 15) / 16 * 16);
        S* c = static_cast<S*>(plan.c) + index * plan.c_batch_stride + block.row * plan.ldc +
               block.col;
        const S* bias = plan.bias ? static_cast<const S*>(plan.bias) + block.col : nullptr;
        for (int64_t r = 0; r < g.m; ++r) {
          store_row(c + r * plan.ldc, 1, workspace + r * g.n, g.n, plan, bias, 1);
        }
      }
    }
  }
}

/// Products that cost less than getting ready for them: C at most one vector wide, B read as it
/// stands or turned on the stack. The order of the sum is that of run_gemm.
constexpr int64_t kTinyDepth = 64;

template <class T>
bool is_tiny(const GemmPlan& plan) {
  return plan.n <= Vec<T>::kSize && plan.k <= kTinyDepth && plan.m * plan.k <= 512 && !plan.bias &&
         plan.alpha.d == 1 && plan.beta.d == 0;
}

template <int kRows, class T>
TAPER_INLINE void tiny_rows(T* c, int64_t ldc, const T* a, int64_t a_row, int64_t a_col, const T* b,
                            int64_t ldb, int64_t n, int64_t k) {
  Vec<T> sum[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sum[r] = T(0);
  for (int64_t p = 0; p < k; ++p) {
    const Vec<T> row = Vec<T>::load(b + p * ldb, n);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sum[r] = fma(Vec<T>(a[r * a_row + p * a_col]), row, sum[r]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sum[r].store(c + r * ldc, n);
}

template <class T>
void run_tiny(const GemmPlan& plan) {
  const int64_t a_row = plan.a_transposed ? 1 : plan.lda, a_col = plan.a_transposed ? plan.lda : 1;
  alignas(64) T turned[kTinyDepth * Vec<T>::kSize];
  for (int64_t index = 0; index < plan.batch; ++index) {
    const T* a = static_cast<const T*>(plan.a) + index * plan.a_batch_stride;
    const T* b = static_cast<const T*>(plan.b) + index * plan.b_batch_stride;
    T* c = static_cast<T*>(plan.c) + index * plan.c_batch_stride;
    int64_t ldb = plan.ldb;
    if (plan.b_transposed) {
      transpose(turned, Vec<T>::kSize, b, plan.ldb, plan.n, plan.k);
      b = turned, ldb = Vec<T>::kSize;
    }
    int64_t i = 0;
    for (; i + 4 <= plan.m; i += 4) {
      tiny_rows<4>(c + i * plan.ldc, plan.ldc, a + i * a_row, a_row, a_col, b, ldb, plan.n, plan.k);
    }
    for (; i < plan.m; ++i) {
      tiny_rows<1>(c + i * plan.ldc, plan.ldc, a + i * a_row, a_row, a_col, b, ldb, plan.n, plan.k);
    }
  }
}

template <class S>
Status run_matrices(const GemmPlan& plan, const Stream& stream) {
  using T = acc_t<S>;
  const int64_t threads = threads_for(stream, plan.batch * plan.m * plan.n * (plan.k + 8));
  if constexpr (std::is_same_v<T, S>) {
    if (threads == 1 && is_tiny<T>(plan)) {
      run_tiny<T>(plan);
      return {};
    }
  }
  // A batch that does not come out even is dealt in parts of matrices.
  const bool whole = threads == 1 || plan.batch % threads == 0 || plan.batch >= 8 * threads;
  const int64_t parts = whole ? 1 : threads;
  const int64_t workspace = (workspace_of<S>(plan) + 15) / 16 * 16;
  const auto run_items = [&](int64_t begin, int64_t end, T* memory) {
    int64_t index = parts == 1 ? begin : begin / parts, part = begin - index * parts;
    for (int64_t item = begin; item < end; ++item) {
      run_part<S>(plan, index, part_of(plan, part, parts), memory);
      if (++part == parts) ++index, part = 0;
    }
  };

  constexpr int64_t kOnStack = 2048;
  if (threads == 1 && workspace <= kOnStack) {
    alignas(64) T memory[kOnStack];
    run_items(0, plan.batch, memory);
    return {};
  }
  const Scratch<T> memory(stream, workspace * threads);
  if (!memory.get()) return memory.failure();
  for_pieces(stream, threads, plan.batch * parts, [&](int64_t piece, int64_t begin, int64_t end) {
    run_items(begin, end, memory.get() + piece * workspace);
  });
  return {};
}

/// n == 1, or m == 1 seen as its transpose.
template <class S>
Status run_vectors(const GemmPlan& plan, const Stream& stream) {
  using T = acc_t<S>;
  const auto problem_of = [&](int64_t index) {
    GemmProblem<T, S> g = make_problem<T, S>(plan, index);
    if (plan.n != 1) {
      std::swap(g.m, g.n);
      std::swap(g.a, g.b);
      std::swap(g.a_row, g.b_col);
      std::swap(g.a_col, g.b_row);
    }
    return g;
  };
  const GemmProblem<T, S> g0 = problem_of(0);
  const int64_t c_stride = plan.n == 1 ? plan.ldc : 1, bias_stride = plan.n == 1 ? 0 : 1;
  const int64_t rows = g0.m;
  const bool in_place = std::is_same_v<T, S> && (g0.b_row == 1 || g0.k <= 1);

  const Scratch<T> memory(stream, in_place ? 1 : g0.k);
  if (!memory.get()) return memory.failure();
  for (int64_t index = 0; index < plan.batch; ++index) {
    const GemmProblem<T, S> g = problem_of(index);
    const T* x = memory.get();
    if (in_place) {
      if constexpr (std::is_same_v<T, S>) x = g.b;
    } else {
      for (int64_t p = 0; p < g.k; ++p) memory[p] = static_cast<T>(g.b[p * g.b_row]);
    }
    S* c = static_cast<S*>(plan.c) + index * plan.c_batch_stride;
    const S* bias = static_cast<const S*>(plan.bias);
    constexpr int64_t kBlock = 1024;
    const int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, g.k));
    parallel_for(stream, rows, (grain + 15) / 16 * 16, [&](int64_t begin, int64_t end) {
      alignas(64) T sums[kBlock];
      for (int64_t i = begin; i < end; i += kBlock) {
        const int64_t count = std::min(kBlock, end - i);
        multiply_vector(sums, g, x, i, i + count);
        store_row(c + i * c_stride, c_stride, sums, count, plan,
                  bias ? bias + i * bias_stride : nullptr, bias_stride);
      }
    });
  }
  return {};
}

/// Integers wrap around: everything is computed in an unsigned type of at least 32 bits.
template <class S>
Status run_integers(const GemmPlan& plan, const Stream& stream) {
  using U = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;
  constexpr int64_t kBlock = 512;
  const U alpha = static_cast<U>(plan.alpha.i), beta = static_cast<U>(plan.beta.i);
  const S* bias = static_cast<const S*>(plan.bias);
  const int64_t work = std::max<int64_t>(1, plan.n * plan.k);
  parallel_for(stream, plan.batch * plan.m, (1 << 17) / work + 1, [&](int64_t begin, int64_t end) {
    U sum[kBlock];
    for (int64_t item = begin; item < end; ++item) {
      const int64_t index = item / plan.m, i = item % plan.m;
      const S* a = static_cast<const S*>(plan.a) + index * plan.a_batch_stride +
                   i * (plan.a_transposed ? 1 : plan.lda);
      const int64_t a_col = plan.a_transposed ? plan.lda : 1;
      const S* b = static_cast<const S*>(plan.b) + index * plan.b_batch_stride;
      S* c = static_cast<S*>(plan.c) + index * plan.c_batch_stride + i * plan.ldc;
      for (int64_t j0 = 0; j0 < plan.n; j0 += kBlock) {
        const int64_t count = std::min(kBlock, plan.n - j0);
        std::fill(sum, sum + count, U(0));
        if (plan.b_transposed) {
          for (int64_t j = 0; j < count; ++j) {
            const S* column = b + (j0 + j) * plan.ldb;
            U total = 0;
            for (int64_t p = 0; p < plan.k; ++p) {
              total += static_cast<U>(a[p * a_col]) * static_cast<U>(column[p]);
            }
            sum[j] = total;
          }
        } else {
          for (int64_t p = 0; p < plan.k; ++p) {
            const U factor = static_cast<U>(a[p * a_col]);
            const S* row = b + p * plan.ldb + j0;
            for (int64_t j = 0; j < count; ++j) sum[j] += factor * static_cast<U>(row[j]);
          }
        }
        for (int64_t j = 0; j < count; ++j) {
          U value = alpha * sum[j];
          if (bias) {
            value += static_cast<U>(bias[j0 + j]);
          } else if (beta != 0) {
            value += beta * static_cast<U>(c[j0 + j]);
          }
          c[j0 + j] = static_cast<S>(value);
        }
      }
    }
  });
  return {};
}

}  // namespace

Status gemm(const GemmPlan& plan, Stream stream) {
  if (plan.batch == 0 || plan.m == 0 || plan.n == 0) return {};
  return for_number(plan.dtype, [&](auto type) -> Status {
    using S = decltype(type);
    if constexpr (std::is_integral_v<S>) {
      return run_integers<S>(plan, stream);
    } else {
      if (plan.n == 1 || plan.m == 1) return run_vectors<S>(plan, stream);
      return run_matrices<S>(plan, stream);
    }
  });
}

TAPER_CPU_END
