#pragma once

#include <algorithm>

#include "taper/kernels/cuda/device/walk.cuh"
#include "taper/kernels/plan.h"
#include "taper/kernels/status.h"

// From a plan, whose numbers have 64 bits, to the walks of kernels, whose numbers have 32.

namespace taper::kernels::cuda {

static_assert(kMaxWalkRank == kMaxRank);

/// The farthest that an operand of one launch reaches, in elements; also how many it has at most.
constexpr int64_t kMaxReach = (int64_t{1} << 31) - 1;

/// Calls piece(plan, start) for parts of `plan` with at most `limit` elements and no offset beyond
/// `limit`; operand k of a part begins start[k] elements after that of the whole.
template <int N, class Piece>
Status for_each_piece(const ElementwisePlan<N>& plan, const int64_t (&start)[N + 1],
                      const Piece& piece, int64_t limit = kMaxReach) {
  if (plan.numel == 0) return {};
  int widest = 0;
  int64_t width = -1;
  bool fits = plan.numel <= limit;
  for (int k = 0; k <= N; ++k) {
    int64_t reach = 0;
    for (int d = 0; d < plan.rank; ++d) {
      const int64_t stride = plan.strides[k][d];
      const int64_t extent = (stride < 0 ? -stride : stride) * (plan.sizes[d] - 1);
      reach += extent;
      if (extent > width) width = extent, widest = d;
    }
    fits &= reach <= limit;
  }
  if (fits) return piece(plan, start);

  // Cut where packets begin too, if there are any.
  constexpr int64_t kRound = 16;
  const int64_t size = plan.sizes[widest];
  int64_t cut = size / 2;
  if (cut > kRound) cut -= cut % kRound;
  ElementwisePlan<N> part = plan;
  int64_t part_start[N + 1];
  for (const int64_t begin : {int64_t{0}, cut}) {
    part.sizes[widest] = begin == 0 ? cut : size - cut;
    part.numel = plan.numel / size * part.sizes[widest];
    for (int k = 0; k <= N; ++k) part_start[k] = start[k] + begin * plan.strides[k][widest];
    const Status status = for_each_piece<N>(part, part_start, piece, limit);
    if (!status.ok()) return status;
  }
  return {};
}

/// A stack of dense matrices and a diagonal, counted from the first row and column.
struct Triangles {
  int64_t batch, rows, cols, diagonal;

  int64_t numel() const { return batch * rows * cols; }
};

/// Calls piece(part, start) for parts of a stack with at most `limit` elements: of the stack, else
/// of a matrix's rows, else of a row.
template <class Piece>
Status for_each_piece(const Triangles& all, int64_t start, const Piece& piece,
                      int64_t limit = kMaxReach) {
  if (all.numel() <= limit) return piece(all, start);
  Triangles first = all, second = all;
  if (all.batch > 1) {
    first.batch /= 2;
    second.batch -= first.batch;
  } else if (all.rows > 1) {
    first.rows /= 2;
    second.rows -= first.rows;
    second.diagonal += first.rows;
  } else {
    first.cols /= 2;
    second.cols -= first.cols;
    second.diagonal -= first.cols;
  }
  const Status status = for_each_piece(first, start, piece, limit);
  return status.ok() ? for_each_piece(second, start + first.numel(), piece, limit) : status;
}

/// In steps of `packet` elements along dimension 0, of which the last may have fewer.
template <int N>
void make_walk(Walk<N>& walk, const ElementwisePlan<N>& plan, int64_t packet) {
  walk.rank = std::max(plan.rank, 1);
  if (plan.rank == 0) {
    walk.count = 1;
    for (auto& of_operand : walk.strides) of_operand[0] = 0;
    return;
  }
  const int64_t packets = (plan.sizes[0] - 1) / packet + 1;
  walk.count = static_cast<uint32_t>(plan.numel / plan.sizes[0] * packets);
  for (int d = 0; d < plan.rank; ++d) {
    walk.sizes[d] = Divider(static_cast<uint32_t>(d == 0 ? packets : plan.sizes[d]));
    for (int k = 0; k <= N; ++k) {
      walk.strides[k][d] = static_cast<int32_t>(plan.strides[k][d] * (d == 0 ? packet : 1));
    }
  }
}

}  // namespace taper::kernels::cuda
