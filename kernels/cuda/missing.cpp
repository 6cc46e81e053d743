#include "taper/kernels/cuda/kernels.h"

// Entries of the table that have no kernel yet.

namespace taper::kernels::cuda {

Status copy(const CopyArgs&, Stream) { return unsupported(); }
Status fill(const FillArgs&, Stream) { return unsupported(); }
Status unary(const UnaryArgs&, Stream) { return unsupported(); }
Status binary(const BinaryArgs&, Stream) { return unsupported(); }
Status ternary(const TernaryArgs&, Stream) { return unsupported(); }
Status range(void*, ScalarType, int64_t, Value, Value, Value, bool, Stream) {
  return unsupported();
}
Status triangle(void*, const void*, ScalarType, int64_t, int64_t, int64_t, int64_t, bool, Stream) {
  return unsupported();
}
Status reduce(const ReduceArgs&, Stream) { return unsupported(); }
Status arg_reduce(ArgOp, void*, int64_t*, const void*, ScalarType, const AxisPlan&, Stream) {
  return unsupported();
}
Status var_mean(void*, void*, const void*, ScalarType, double, const ReducePlan&, Stream) {
  return unsupported();
}
Status scan(ScanOp, void*, int64_t*, const void*, ScalarType, const AxisPlan&, Stream) {
  return unsupported();
}
Status sort(const SortArgs&, Stream) { return unsupported(); }
Status index_select(void*, const void*, const IndexAxisArgs&, Stream) { return unsupported(); }
Status index_update(ScatterOp, void*, const void*, const IndexAxisArgs&, Value, int64_t, Stream) {
  return unsupported();
}
Status gather(const GatherArgs&, Stream) { return unsupported(); }
Status scatter(const GatherArgs&, Stream) { return unsupported(); }
Status index_get(const AdvancedIndexArgs&, Stream) { return unsupported(); }
Status index_put(const AdvancedIndexArgs&, bool, Stream) { return unsupported(); }
Status count_nonzero(int64_t*, const void*, ScalarType, int64_t, Stream) { return unsupported(); }
Status nonzero(int64_t*, const void*, ScalarType, int, const int64_t*, Stream) {
  return unsupported();
}
Status masked_select(void*, const void*, const bool*, ScalarType, int64_t, Stream) {
  return unsupported();
}
Status masked_scatter(void*, const bool*, const void*, ScalarType, int64_t, Stream) {
  return unsupported();
}
Status bincount(void*, const int64_t*, const void*, ScalarType, int64_t, int64_t, Stream) {
  return unsupported();
}
Status softmax_forward(void*, const void*, const SoftmaxArgs&, Stream) { return unsupported(); }
Status softmax_backward(void*, const void*, const void*, const SoftmaxArgs&, Stream) {
  return unsupported();
}
Status layer_norm_forward(void*, void*, void*, const void*, const LayerNormArgs&, Stream) {
  return unsupported();
}
Status layer_norm_backward(void*, void*, void*, const void*, const void*, const void*, const void*,
                           const LayerNormArgs&, Stream) {
  return unsupported();
}
Status batch_norm_forward(void*, void*, void*, void*, void*, double, bool, const void*,
                          const BatchNormArgs&, Stream) {
  return unsupported();
}
Status batch_norm_backward(void*, void*, void*, const void*, const void*, const void*, const void*,
                           bool, const BatchNormArgs&, Stream) {
  return unsupported();
}
Status cross_entropy_forward(void*, void*, const void*, const CrossEntropyArgs&, Stream) {
  return unsupported();
}
Status cross_entropy_backward(void*, const void*, int64_t, double, const void*, const void*,
                              const CrossEntropyArgs&, Stream) {
  return unsupported();
}
Status lstm_cell_forward(void*, void*, void*, const void*, const RecurrentCellArgs&, Stream) {
  return unsupported();
}
Status lstm_cell_backward(void*, void*, const void*, const void*, const void*, const void*,
                          const void*, const RecurrentCellArgs&, Stream) {
  return unsupported();
}
Status gru_cell_forward(void*, void*, void*, const void*, const void*, const RecurrentCellArgs&,
                        Stream) {
  return unsupported();
}
Status gru_cell_backward(void*, void*, void*, const void*, const void*, const void*, const void*,
                         const RecurrentCellArgs&, Stream) {
  return unsupported();
}
Status random(const RandomArgs&, Stream) { return unsupported(); }
Status dropout_forward(void*, uint8_t*, const void*, ScalarType, int64_t, double, void*, Stream) {
  return unsupported();
}
Status dropout_backward(void*, const void*, const uint8_t*, ScalarType, int64_t, double, Stream) {
  return unsupported();
}
Status sgd_step(const OptimizerArgs&, Stream) { return unsupported(); }
Status adam_step(const OptimizerArgs&, Stream) { return unsupported(); }
Status multi_norm(void*, const OptimizerArgs&, double, Stream) { return unsupported(); }
Status multi_scale(const OptimizerArgs&, double, const void*, Stream) { return unsupported(); }
Status multi_unscale(const OptimizerArgs&, float*, const float*, Stream) { return unsupported(); }
Status multi_zero(const OptimizerArgs&, Stream) { return unsupported(); }

}  // namespace taper::kernels::cuda
