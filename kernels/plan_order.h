#pragma once

#include <algorithm>
#include <utility>

#include "taper/kernels/plan.h"

// Plan work that kernels do for themselves on any device. Inline, since modules import no symbol of
// the core.

namespace taper::kernels {

/// Sorts dimensions so that the smallest stride of the input comes first, and merges what then lies
/// end to end: a reduction may visit its elements in any order. (Where there is but one reduced
/// dimension, as for positions, nothing merges.)
inline ReducePlan in_memory_order(const ReducePlan& plan) {
  ReducePlan sorted = plan;
  const auto swap_down = [](int rank, int64_t* key, auto... others) {
    for (int i = 1; i < rank; ++i) {
      for (int d = i; d > 0 && key[d] < key[d - 1]; --d) {
        std::swap(key[d], key[d - 1]);
        (std::swap(others[d], others[d - 1]), ...);
      }
    }
  };
  swap_down(sorted.kept_rank, sorted.in_kept_strides, sorted.kept_sizes, sorted.out_strides);
  swap_down(sorted.reduced_rank, sorted.in_reduced_strides, sorted.reduced_sizes);
  int32_t rank = std::min(sorted.reduced_rank, 1);
  for (int d = 1; d < sorted.reduced_rank; ++d) {
    int64_t* sizes = sorted.reduced_sizes;
    int64_t* strides = sorted.in_reduced_strides;
    if (strides[d] == strides[rank - 1] * sizes[rank - 1]) {
      sizes[rank - 1] *= sizes[d];
    } else {
      sizes[rank] = sizes[d];
      strides[rank++] = strides[d];
    }
  }
  sorted.reduced_rank = rank;
  return sorted;
}

}  // namespace taper::kernels
