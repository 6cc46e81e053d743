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
Status gemm(const GemmPlan&, Stream) { return unsupported(); }
Status conv_forward(void*, const void*, const void*, const void*, bool, const ConvPlan&, Stream) {
  return unsupported();
}
Status conv_backward_data(void*, const void*, const void*, const ConvPlan&, Stream) {
  return unsupported();
}
Status conv_backward_weight(void*, void*, const void*, const void*, const ConvPlan&, Stream) {
  return unsupported();
}
Status max_pool_forward(void*, uint8_t*, int64_t*, const void*, const PoolPlan&, Stream) {
  return unsupported();
}
Status max_pool_backward(void*, const void*, const uint8_t*, const int64_t*, const void*,
                         const PoolPlan&, Stream) {
  return unsupported();
}
Status avg_pool_forward(void*, const void*, const PoolPlan&, Stream) { return unsupported(); }
Status avg_pool_backward(void*, const void*, const PoolPlan&, Stream) { return unsupported(); }
Status adaptive_avg_pool_forward(void*, const void*, const PoolPlan&, Stream) {
  return unsupported();
}
Status adaptive_avg_pool_backward(void*, const void*, const PoolPlan&, Stream) {
  return unsupported();
}
Status resize_forward(ResizeMode, void*, const void*, double, double, const PoolPlan&, Stream) {
  return unsupported();
}
Status resize_backward(ResizeMode, void*, const void*, double, double, const PoolPlan&, Stream) {
  return unsupported();
}

}  // namespace taper::kernels::cuda
