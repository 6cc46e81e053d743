#pragma once

#include "taper/kernels/cuda/gemm.h"
#include "taper/kernels/cuda/product.h"

// From a GemmPlan to a product in tiles: the four layouts, and which tile suits. For .cu files.

namespace taper::kernels::cuda {

inline bool multiple_of(int64_t bytes, const void* data, int64_t stride, int64_t batch_stride,
                        size_t element) {
  const auto size = static_cast<int64_t>(element);
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) == 0 &&
         stride * size % bytes == 0 && batch_stride * size % bytes == 0;
}

/// Whether rows of both operands begin at multiples of 16 bytes.
template <class T>
bool has_packed_operands(const GemmPlan& p) {
  return multiple_of(16, p.a, p.lda, p.a_batch_stride, sizeof(T)) &&
         multiple_of(16, p.b, p.ldb, p.b_batch_stride, sizeof(T));
}

template <class T, class C>
MatrixSink<T, C> sink_of(const GemmPlan& p, int stored) {
  MatrixSink<T, C> sink{};
  sink.c = static_cast<T*>(p.c);
  sink.stride = p.ldc, sink.batch_stride = p.c_batch_stride;
  sink.bias = static_cast<const T*>(p.bias);
  if constexpr (std::is_integral_v<C>) {
    sink.alpha = static_cast<C>(p.alpha.i), sink.beta = static_cast<C>(p.beta.i);
  } else {
    sink.alpha = static_cast<C>(p.alpha.d), sink.beta = static_cast<C>(p.beta.d);
  }
  sink.columns = static_cast<int>(p.n);
  sink.packed = multiple_of(stored * static_cast<int64_t>(sizeof(T)), p.c, p.ldc, p.c_batch_stride,
                            sizeof(T));
  return sink;
}

inline ProductSize size_of(const GemmPlan& p) { return {p.m, p.n, p.k, p.batch}; }

template <class Tile, class T, bool kDeepA, bool kDeepB, bool kAsync>
Status run_layout(const GemmPlan& p, const Stream& stream) {
  const MatrixSource<T, kDeepA, kAsync> a{static_cast<const T*>(p.a), p.lda, p.a_batch_stride,
                                          static_cast<int>(p.m),
                                          multiple_of(16, p.a, p.lda, p.a_batch_stride, sizeof(T))};
  const MatrixSource<T, kDeepB, kAsync> b{static_cast<const T*>(p.b), p.ldb, p.b_batch_stride,
                                          static_cast<int>(p.n),
                                          multiple_of(16, p.b, p.ldb, p.b_batch_stride, sizeof(T))};
  return run_product<Tile>(stream, a, b, sink_of<T, typename Tile::Compute>(p, Tile::kStored),
                           size_of(p));
}

template <class Tile, class T, bool kAsync>
Status run_tiles(const GemmPlan& p, const Stream& stream) {
  if (p.a_transposed) {
    return p.b_transposed ? run_layout<Tile, T, false, true, kAsync>(p, stream)
                          : run_layout<Tile, T, false, false, kAsync>(p, stream);
  }
  return p.b_transposed ? run_layout<Tile, T, true, true, kAsync>(p, stream)
                        : run_layout<Tile, T, true, false, kAsync>(p, stream);
}

/// The larger tile reads its operands half as often, if there are enough of them to fill the card.
template <class Large>
bool suits_large(const GemmPlan& p, const Stream& stream) {
  return tiles_of<Large>(size_of(p)) >= properties_of(stream.device).multi_processor_count;
}

template <class T>
Status gemm_on_tensor_cores(const GemmPlan& plan, const Stream& stream) {
  using Large = MmaTile<T, 128, 128, 2, 4>;
  using Small = MmaTile<T, 64, 64, 2, 2>;
  // Rows that begin anywhere cannot be copied by 16 bytes: they go through registers.
  if (!has_packed_operands<T>(plan)) return run_tiles<Small, T, false>(plan, stream);
  return suits_large<Large>(plan, stream) ? run_tiles<Large, T, true>(plan, stream)
                                          : run_tiles<Small, T, true>(plan, stream);
}

}  // namespace taper::kernels::cuda
