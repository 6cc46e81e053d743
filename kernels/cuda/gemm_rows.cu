#include "taper/kernels/cuda/blas.h"
#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/dtypes.h"

// The bias of a product that a library computes: it is in C before, and the product is added.

namespace taper::kernels::cuda {

namespace {

constexpr int kThreads = 256;

/// Blocks take columns (x) and rows in turn (y); a thread keeps its columns' bias.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    fill_rows_with_bias(Word* c, const Word* bias, int64_t stride, int64_t batch_stride, int rows,
                        int64_t all_rows, int columns) {
  const int col = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (col >= columns) return;
  const Word value = bias[col];
  for (int64_t row = blockIdx.y; row < all_rows; row += gridDim.y) {
    c[row / rows * batch_stride + row % rows * stride + col] = value;
  }
}

/// `word` bytes at a time: a whole number of elements.
template <class Word>
Status run(const GemmPlan& p, const Stream& stream) {
  const auto per_word = static_cast<int64_t>(sizeof(Word) / element_size(p.dtype));
  const int64_t columns = p.n / per_word, rows = p.m * p.batch;
  const int64_t most = 16 * properties_of(stream.device).multi_processor_count;
  const dim3 grid(ceil_div(columns, kThreads),
                  static_cast<unsigned>(std::min<int64_t>({rows, most, 65535})));
  return launch(stream, fill_rows_with_bias<Word>, grid, dim3(kThreads), 0, static_cast<Word*>(p.c),
                static_cast<const Word*>(p.bias), p.ldc / per_word, p.c_batch_stride / per_word,
                p.m, rows, columns);
}

}  // namespace

Status fill_rows(const GemmPlan& p, const Stream& stream) {
  const auto size = static_cast<int64_t>(element_size(p.dtype));
  const bool packed = p.n * size % 16 == 0 && p.ldc * size % 16 == 0 &&
                      p.c_batch_stride * size % 16 == 0 &&
                      aligned_16(static_cast<const char*>(p.c), static_cast<const char*>(p.bias));
  if (packed) return run<uint4>(p, stream);
  if (size == 8) return run<uint64_t>(p, stream);
  return size == 4 ? run<uint32_t>(p, stream) : run<uint16_t>(p, stream);
}

}  // namespace taper::kernels::cuda
