#pragma once

#include <utility>
#include <vector>

#include "taper/core/tensor.h"
#include "taper/kernels/backend.h"
#include "taper/optim/optimizer.h"

// One step over many parameters: sorted by device and dtype, each list is one call of a
// multi-tensor kernel.

namespace taper::optim::detail {

/// Throws where a gradient has another shape, dtype or device than its parameter: before a step, so
/// that none is done by half.
void check_grads(const char* op, const std::vector<OptimizerParamGroup>& groups);

/// The tensors of one step. Kernels want dense memory, so parameters that are not are stepped in a
/// copy, which is written back.
class TensorLists {
 public:
  /// `op` names the optimizer in messages.
  explicit TensorLists(const char* op) : op_(op) {}

  /// `states` are the optimizer's own tensors for the parameter, null where it has none, zeros
  /// where there are none yet. They and the parameter's handle must outlive `run`. They may be
  /// given by the user, and the parameter may have been converted since they were made: another
  /// dtype, or memory that is not dense, is converted; another shape or device is an error. `step`
  /// as in kernels::TensorRef.
  void add(const Tensor& param, double step, std::initializer_list<Tensor*> states);
  /// The same for the step after `*steps`, which `run` counts.
  void add(const Tensor& param, int64_t* steps, std::initializer_list<Tensor*> states);
  /// Calls `kernel` with a list per device and dtype; the rest of `args` says what to do.
  void run(kernels::Status (*kernels::KernelTable::*kernel)(const kernels::OptimizerArgs&,
                                                            kernels::Stream),
           kernels::OptimizerArgs args, const Tensor& found_inf, const Tensor& inv_scale);

 private:
  struct List {
    Device device;
    ScalarType dtype;
    std::vector<kernels::TensorRef> tensors;
  };
  List& list_for(const Tensor& param);
  void* conformed(Tensor& state, const Tensor& param);

  const char* op_;
  std::vector<List> lists_;  // few: a linear search finds the right one
  std::vector<TensorImpl*> params_;
  std::vector<int64_t*> counters_;
  std::vector<Tensor> grads_;  // those that had to be made dense
  std::vector<std::pair<const Tensor*, Tensor>> copies_;
};

}  // namespace taper::optim::detail
