#pragma once

#include <algorithm>

#include "taper/kernels/cpu/vec.h"

// Matrix products on one thread: what `gemm` and the convolutions are made of.

TAPER_CPU_BEGIN

inline int64_t round_up(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

/// C = relu?(alpha * A * B + beta * C + row_bias + col_bias). Element (i, p) of A stands at
/// a[i * a_row + p * a_col], likewise B and C; in each, one of the two strides is 1. S is what is
/// stored, T what is computed: halves are widened while they are packed. Each element of C is
/// summed in an order that depends on k alone, so that any division of C among threads gives the
/// same result.
template <class T, class S = T>
struct GemmProblem {
  int64_t m, n, k;
  const S* a;
  int64_t a_row, a_col;
  const S* b;
  int64_t b_row, b_col;
  T* c;
  int64_t c_row, c_col;
  T alpha = 1;
  T beta = 0;                   ///< 0 does not read C
  const T* row_bias = nullptr;  ///< one number per row of C
  const T* col_bias = nullptr;  ///< one number per column of C
  bool relu = false;
};

/// Elements of scratch memory that run_gemm needs at most for a problem of this size.
template <class T>
int64_t gemm_workspace(int64_t m, int64_t n, int64_t k);

template <class T, class S>
void run_gemm(const GemmProblem<T, S>& problem, T* workspace);

/// Calls body(piece, begin, end) for `pieces` even parts of [0, items) in parallel. Unlike
/// parallel_for's own parts, these are numbered, so that each may have scratch memory of its own.
template <class Body>
void for_pieces(const Stream& stream, int64_t pieces, int64_t items, const Body& body) {
  parallel_for(stream, pieces, 1, [&](int64_t first, int64_t last) {
    for (int64_t piece = first; piece < last; ++piece) {
      body(piece, items * piece / pieces, items * (piece + 1) / pieces);
    }
  });
}

/// How many threads `work` multiply-adds are worth.
inline int64_t threads_for(const Stream& stream, int64_t work) {
  constexpr int64_t kMinPiece = 1 << 18;  // about 5 us, several times what a fork and join costs
  const int64_t useful = work / kMinPiece;
  if (useful <= 1) return 1;
  return std::min<int64_t>(useful, stream.host->num_threads());
}

TAPER_CPU_END
