#include "taper/kernels/cuda/gemm_tiles.h"

// Integers wrap around: they are multiplied as unsigned numbers of at least 32 bits.

namespace taper::kernels::cuda {

namespace {

template <class T>
Status run(const GemmPlan& p, const Stream& stream) {
  using C = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  using Tile = FmaTile<C, 64, 64, 16, 4, 4>;
  const auto source = [](const void* data, int64_t stride, bool deep, int64_t batch_stride,
                         int64_t lines) {
    return StridedSource<T>{static_cast<const T*>(data), deep ? stride : 1, deep ? 1 : stride,
                            batch_stride, static_cast<int>(lines)};
  };
  return run_product<Tile>(stream, source(p.a, p.lda, !p.a_transposed, p.a_batch_stride, p.m),
                           source(p.b, p.ldb, p.b_transposed, p.b_batch_stride, p.n),
                           sink_of<T, C>(p, Tile::kStored), size_of(p));
}

}  // namespace

Status gemm_integer(const GemmPlan& plan, const Stream& stream) {
  return for_dtypes<int64_t, int32_t, int16_t, int8_t, uint8_t>(
      plan.dtype, [&](auto type) { return run<decltype(type)>(plan, stream); });
}

}  // namespace taper::kernels::cuda
