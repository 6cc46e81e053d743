#pragma once

#include <utility>
#include <vector>

#include "taper/core/tensor.h"
#include "taper/kernels/backend.h"

// One step over many parameters: sorted by device and dtype, each list is one call of a
// multi-tensor kernel.

namespace taper::optim::detail {

/// The tensors of one step. Kernels want dense memory, so parameters that are not are stepped in a
/// copy, which is written back.
class TensorLists {
 public:
  /// `states` have to be dense and of the parameter's shape and dtype; they and the parameter's
  /// handle must outlive `run`. `step` as in kernels::TensorRef.
  void add(const Tensor& param, double step, std::initializer_list<Tensor*> states);
  /// Calls `kernel` with a list per device and dtype; the rest of `args` says what to do.
  void run(kernels::Status (*kernels::KernelTable::*kernel)(const kernels::OptimizerArgs&,
                                                            kernels::Stream),
           const char* op, kernels::OptimizerArgs args, const Tensor& found_inf,
           const Tensor& inv_scale);

 private:
  struct List {
    Device device;
    ScalarType dtype;
    std::vector<kernels::TensorRef> tensors;
  };
  List& list_for(const Tensor& param);

  std::vector<List> lists_;  // few: a linear search finds the right one
  std::vector<TensorImpl*> params_;
  std::vector<Tensor> grads_;  // those that had to be made dense
  std::vector<std::pair<const Tensor*, Tensor>> copies_;
};

/// Throws where the parameter's gradient has another shape, dtype or device.
void check_grad(const char* op, const Tensor& param);

}  // namespace taper::optim::detail
