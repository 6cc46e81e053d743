#include "taper/kernels/cuda/kernels.h"

// Entries of the table that have no kernel yet.

namespace taper::kernels::cuda {

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
