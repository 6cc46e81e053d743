// Rows that move elements about or compute a lot: indices, order, random numbers, products,
// convolutions, pooling, training.

#include "rows.h"

using namespace versus;

#define SECTION "Indices and order"
VERSUS(SECTION, "gather over dim 1", touches(R() * C() * (4 + 8 + 4)), exact, x = values(R(), C());
       i = whole_numbers(C(), R(), C()), x.gather(1, i))
VERSUS(SECTION, "index_select of rows", moves(R() * C() * 8), exact, x = values(R(), C());
       i = whole_numbers(R(), R()), x.index_select(0, i))
VERSUS(SECTION, "embedding", moves(n(65536) * 512 * 8), exact, w = values(n(65536), 512);
       i = whole_numbers(n(65536), n(65536)), embedding(w, i))
VERSUS(SECTION, "embedding, backward", touches(n(65536) * 512 * 8), sums(64),
       w = leaf(values(n(65536), 512));
       i = whole_numbers(n(65536), n(65536)); g = values(n(65536), 512);
       y = embedding(w, i), grad_of(y, {w}, g))
VERSUS(SECTION, "index_add into 16 rows", touches(n(65536) * 512 * 4), sums(n(65536)),
       x = values(16, 512);
       i = whole_numbers(16, n(65536)); y = values(n(65536), 512), x.index_add(0, i, y))
VERSUS(SECTION, "masked_select", touches(N() * (4 + 1 + 2)), exact, x = values(N());
       m = x.gt(0), x.masked_select(m))
VERSUS(SECTION, "cat of 4, dim 1", moves(8 * 4 * R() * n(1024)), exact,
       parts = values(4 * R(), n(1024)).chunk(4, 0), cat(parts, 1))
VERSUS(SECTION, "sort over dim 1, with indices", touches(R() * C() * (4 + 4 + 8)), exact,
       x = values(R(), C()), x.sort(1))
VERSUS(SECTION, "sort of a vector, with indices", touches(n(4194304) * (4 + 4 + 8)), exact,
       x = values(n(4194304)), x.sort(0))
VERSUS(SECTION, "topk 8 over dim 1", touches(R() * C() * 4), exact, x = values(R(), C()),
       x.topk(8, 1))
#undef SECTION

#define SECTION "Random numbers"
VERSUS(SECTION, "rand", moves(4 * N()), moments, x = values(1), fresh_rand(N()))
VERSUS(SECTION, "randn", moves(4 * N()), moments, x = values(1), fresh_randn(N()))
VERSUS(SECTION, "randperm", touches(8 * n(4194304)), order, x = values(1),
       fresh_randperm(n(4194304)))
#undef SECTION

#define SECTION "Matrix products"
#define SQUARE(size)                                                                  \
  VERSUS(SECTION, "matmul " #size, product(n(size), n(size), n(size)), sums(n(size)), \
         x = values(n(size), n(size));                                                \
         y = values(n(size), n(size)), matmul(x, y))
SQUARE(1024)
SQUARE(2048)
SQUARE(4096)
SQUARE(8192)
VERSUS(SECTION, "matmul 4096, second transposed", product(n(4096), n(4096), n(4096)), sums(n(4096)),
       x = values(n(4096), n(4096));
       y = values(n(4096), n(4096)), matmul(x, y.t()))
VERSUS(SECTION, "matmul 2048, float64", product(n(2048), n(2048), n(2048), kDouble), sums(n(2048)),
       x = values(n(2048), n(2048)).to(kDouble);
       y = values(n(2048), n(2048)).to(kDouble), matmul(x, y))
VERSUS(SECTION, "matmul 4096, float16", product(n(4096), n(4096), n(4096), kHalf), sums(n(4096)),
       x = values(n(4096), n(4096)).to(kHalf);
       y = values(n(4096), n(4096)).to(kHalf), matmul(x, y))
VERSUS(SECTION, "matmul 4096, bfloat16", product(n(4096), n(4096), n(4096), kBFloat16),
       sums(n(4096)), x = values(n(4096), n(4096)).to(kBFloat16);
       y = values(n(4096), n(4096)).to(kBFloat16), matmul(x, y))
VERSUS(SECTION, "bmm 256 x 256x256", product(256, 256, 256, kFloat, n(256)), sums(256),
       x = values(n(256), 256, 256);
       y = values(n(256), 256, 256), bmm(x, y))
VERSUS(SECTION, "matrix times vector", moves(4 * R() * C()), sums(C()), x = values(R(), C());
       y = values(C()), matmul(x, y))
VERSUS(SECTION, "linear with bias, 4096", computes(2 * n(4096) * n(4096) * n(4096)), sums(n(4096)),
       x = values(n(4096), n(4096));
       w = values(n(4096), n(4096)); b = values(n(4096)), linear(x, w, b))
#undef SECTION
#undef SQUARE

// A 3x3 kernel over [batch, channels, side, side], two operations a product.
static int64_t convolution(int64_t batch, int64_t channels, int64_t side, int64_t outputs) {
  return 2 * 9 * n(batch) * channels * n(side) * n(side) * outputs;
}

#define SECTION "Convolution and pooling"
VERSUS(SECTION, "conv 64x64x56x56 -> 64", computes(convolution(64, 64, 56, 64)), sums(64 * 9),
       x = values(n(64), 64, n(56), n(56));
       w = values(64, 64, 3, 3); b = values(64), conv2d(x, w, b, {1, 1}, {1, 1}))
VERSUS(SECTION, "conv 64x256x14x14 -> 256", computes(convolution(64, 256, 14, 256)), sums(256 * 9),
       x = values(n(64), 256, n(14), n(14));
       w = values(256, 256, 3, 3); b = values(256), conv2d(x, w, b, {1, 1}, {1, 1}))
VERSUS(SECTION, "conv 256x1x28x28 -> 32", computes(convolution(256, 1, 28, 32)), sums(9),
       x = values(n(256), 1, n(28), n(28));
       w = values(32, 1, 3, 3); b = values(32), conv2d(x, w, b, {1, 1}, {1, 1}))
VERSUS(SECTION, "conv 64x64x56x56 -> 64, bfloat16", computes(convolution(64, 64, 56, 64)),
       sums(64 * 9), x = values(n(64), 64, n(56), n(56)).to(kBFloat16);
       w = values(64, 64, 3, 3).to(kBFloat16);
       b = values(64).to(kBFloat16), conv2d(x, w, b, {1, 1}, {1, 1}))
VERSUS(SECTION, "conv 64x64x56x56 -> 64, backward to input", computes(convolution(64, 64, 56, 64)),
       sums(64 * 9), x = leaf(values(n(64), 64, n(56), n(56)));
       w = values(64, 64, 3, 3); b = values(64); y = conv2d(x, w, b, {1, 1}, {1, 1});
       g = values(n(64), 64, n(56), n(56)), grad_of(y, {x}, g))
VERSUS(SECTION, "conv 64x64x56x56 -> 64, backward to weight", computes(convolution(64, 64, 56, 64)),
       sums(n(64) * n(56) * n(56)), x = values(n(64), 64, n(56), n(56));
       w = leaf(values(64, 64, 3, 3)); b = values(64); y = conv2d(x, w, b, {1, 1}, {1, 1});
       g = values(n(64), 64, n(56), n(56)), grad_of(y, {w}, g))
VERSUS(SECTION, "max-pool 2", moves(5 * n(256) * 64 * n(56) * n(56)), exact,
       x = values(n(256), 64, n(56), n(56)), max_pool2d(x, {2, 2}))
VERSUS(SECTION, "max-pool 2, backward", moves((4 + 2 + 1) * n(256) * 64 * n(56) * n(56)), exact,
       x = leaf(values(n(256), 64, n(56), n(56)));
       y = max_pool2d(x, {2, 2}); g = y.detach().clone(), grad_of(y, {x}, g))
VERSUS(SECTION, "average-pool 2", moves(5 * n(256) * 64 * n(56) * n(56)), sums(4),
       x = values(n(256), 64, n(56), n(56)), avg_pool2d(x, {2, 2}))
#undef SECTION

// Reads and writes of a parameter's own floats: Adam has the gradient and two moments besides.
#define SECTION "Training"
VERSUS(SECTION, "Adam, 100 tensors", moves(7 * 4 * 100 * n(1048576)), function,
       step = adam(n(1048576)), step())
VERSUS(SECTION, "AdamW, 100 tensors", moves(7 * 4 * 100 * n(1048576)), function,
       step = adamw(n(1048576)), step())
VERSUS(SECTION, "SGD with momentum, 100 tensors", moves(5 * 4 * 100 * n(1048576)), function,
       step = sgd(n(1048576)), step())
VERSUS(SECTION, "clip_grad_norm_, 100 tensors", moves(3 * 4 * 100 * n(1048576)),
       sums(100 * n(1048576)), step = clip(n(1048576)), step())
// The tutorial's CNN: what is compared is its loss and gradients that have gone all the way back.
VERSUS(SECTION, "CNN 28x28, training step at batch 256", Work(), sums(n(256) * 28 * 28),
       step = train_cnn(n(256)), step())
VERSUS(SECTION, "MLP 784-256-128-10, training step at batch 128", Work(), sums(n(128) * 784),
       step = train_mlp(n(128)), step())
#undef SECTION
