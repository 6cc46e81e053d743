#pragma once

#include <cstdint>

#include "taper/kernels/cuda/context.h"

namespace taper::kernels::cuda {

/// Keys with a number each.
struct Pairs {
  uint64_t* keys;
  int32_t* numbers;
};

/// Sorts `count` (below 2^31) pairs by the low `bits` bits of their keys; equal keys keep their
/// order. `spare` has room for as many. The two may change places: `pairs` are the sorted ones.
Status sort_pairs(Pairs& pairs, Pairs& spare, int64_t count, int bits, const Stream& stream);

}  // namespace taper::kernels::cuda
