#pragma once

#include <limits>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/index.cuh"
#include "taper/kernels/cuda/walk.h"

// Indexing by tensors, in the one form that the kernels know: along one dimension, at positions of
// a plan with the operands values, index, and the tensor with stride 0 where the index chooses.

namespace taper::kernels::cuda {

using IndexPlan = ElementwisePlan<2>;
enum IndexOperand { kValues, kIndex, kSelf };

constexpr int kIndexBlock = 256;  // small blocks leave early where indices meet slow memory
constexpr int64_t kSkipNone = std::numeric_limits<int64_t>::min();

/// Dimensions are given innermost first; those of size 1 are left out.
inline void start_plan(IndexPlan& plan) { plan.numel = 1, plan.rank = 0, plan.contiguous = false; }
inline void add_dimension(IndexPlan& plan, int64_t size, int64_t values, int64_t index,
                          int64_t self) {
  plan.numel *= size;
  if (size == 1) return;
  plan.sizes[plan.rank] = size;
  plan.strides[kValues][plan.rank] = values;
  plan.strides[kIndex][plan.rank] = index;
  plan.strides[kSelf][plan.rank++] = self;
}

/// What follows from the arguments of index_select and index_update, gather and scatter.
struct Indexed {
  IndexPlan plan;
  DimIndex at;

  Indexed() = default;
  Indexed(const IndexAxisArgs& args, const Stream& stream);
  Indexed(const GatherArgs& args, const Stream& stream);
};

/// The same of index_get and index_put. Several index tensors become one, of offsets from the start
/// of self, in memory that is this object's.
class AdvancedIndexed : public Indexed {
 public:
  AdvancedIndexed(const AdvancedIndexArgs& args, const Stream& stream);
  const Status& status() const { return status_; }

 private:
  Scratch<int64_t> offsets_;
  Status status_;
};

/// The largest power of two, up to 16, of bytes in which runs of elements can be moved. Runs are
/// along dimension 0, dense in values (if there are any) and in self, with one index.
int64_t run_unit(const Indexed& indexed, int64_t bytes, const void* values, const void* self);

/// The same index at a part of the plan that begins `elements` into the index tensor.
inline DimIndex moved(DimIndex at, int64_t elements) {
  at.index = static_cast<const char*>(at.index) + elements * (at.wide ? 8 : 4);
  return at;
}

}  // namespace taper::kernels::cuda
