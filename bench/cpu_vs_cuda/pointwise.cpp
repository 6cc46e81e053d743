// Rows that are bound by memory: elementwise ops, copies, reductions, softmax, norms.

#include "rows.h"

using namespace versus;

static int64_t matrices(int64_t count) { return count * 4 * R() * C(); }
static int64_t vectors(int64_t count) { return count * 4 * N(); }

#define SECTION "Elementwise"
VERSUS(SECTION, "copy_", moves(vectors(2)), exact, x = values(N()); y = there(N()), y.copy_(x))
VERSUS(SECTION, "x + y", moves(vectors(3)), exact, x = values(N()); y = values(N()), x + y)
VERSUS(SECTION, "x.add_(y)", moves(vectors(3)), exact, x = values(N()); y = values(N()), x.add_(y))
VERSUS(SECTION, "x * number", moves(vectors(2)), exact, x = values(N()), x * 3)
VERSUS(SECTION, "matrix + row", moves(matrices(2)), exact, x = values(R(), C());
       y = values(C()), x + y)
VERSUS(SECTION, "matrix + column", moves(matrices(2)), exact, x = values(R(), C());
       y = values(R(), 1), x + y)
VERSUS(SECTION, "relu", moves(vectors(2)), exact, x = values(N()), x.relu())
VERSUS(SECTION, "exp", moves(vectors(2)), function, x = values(N()), x.exp())
VERSUS(SECTION, "tanh", moves(vectors(2)), function, x = values(N()), x.tanh())
VERSUS(SECTION, "gelu", moves(vectors(2)), function, x = values(N()), gelu(x))
VERSUS(SECTION, "where(m, x, y)", moves(vectors(3) + N()), exact, x = values(N()); y = values(N());
       m = x.gt(0), where(m, x, y))
VERSUS(SECTION, "x + y, float16", moves(vectors(3) / 2), exact, x = values(N()).to(kHalf);
       y = values(N()).to(kHalf), x + y)
VERSUS(SECTION, "exp, bfloat16", moves(vectors(1)), function, x = values(N()).to(kBFloat16),
       x.exp())
VERSUS(SECTION, "float32 to bfloat16", moves(vectors(1) + 2 * N()), exact, x = values(N()),
       x.to(kBFloat16))
VERSUS(SECTION, "transposed, contiguous", moves(matrices(2)), exact, x = values(R(), C()),
       x.t().contiguous())
VERSUS(SECTION, "x.t() + y", moves(matrices(3)), exact, x = values(R(), C());
       y = values(C(), R()), x.t() + y)
#undef SECTION

#define SECTION "Reductions and scans"
VERSUS(SECTION, "sum", moves(vectors(1)), sums(N()), x = values(N()).abs(), x.sum())
VERSUS(SECTION, "sum over dim 0", moves(matrices(1)), sums(R()), x = values(R(), C()), x.sum(0))
VERSUS(SECTION, "sum over dim 1", moves(matrices(1)), sums(C()), x = values(R(), C()), x.sum(1))
VERSUS(SECTION, "var over dim 1", moves(matrices(1)), sums(C()), x = values(R(), C()), x.var(1))
VERSUS(SECTION, "max over dim 1, with indices", moves(matrices(1)), exact, x = values(R(), C()),
       x.max(1))
VERSUS(SECTION, "argmax", moves(vectors(1)), exact, x = values(N()), x.argmax())
VERSUS(SECTION, "norm", moves(vectors(1)), sums(N()), x = values(N()), x.norm())
VERSUS(SECTION, "cumsum over dim 1", moves(matrices(2)), sums(C()), x = values(R(), C()),
       x.cumsum(1))
VERSUS(SECTION, "cumsum of a vector", touches(vectors(2)), sums(N()), x = values(N()), x.cumsum(0))
#undef SECTION

#define SECTION "Softmax and losses"
VERSUS(SECTION, "softmax", moves(matrices(2)), sums(C()), x = values(R(), C()), softmax(x, 1))
VERSUS(SECTION, "log_softmax", moves(matrices(2)), sums(C()), x = values(R(), C()),
       log_softmax(x, 1))
VERSUS(SECTION, "softmax, backward", moves(matrices(3)), sums(C()), x = leaf(values(R(), C()));
       g = values(R(), C()); y = softmax(x, 1), grad_of(y, {x}, g))
VERSUS(SECTION, "cross entropy", moves(matrices(1)), sums(R() * C()), x = values(R(), C());
       i = whole_numbers(C(), R()), cross_entropy_loss(x, i))
#undef SECTION

#define SECTION "Norms and dropout"
VERSUS(SECTION, "layer norm", moves(matrices(2)), sums(C()), x = values(R(), C()); w = values(C());
       b = values(C()), layer_norm(x, {C()}, w, b))
VERSUS(SECTION, "layer norm, backward", moves(matrices(3)), sums(R() + C()),
       x = leaf(values(R(), C()));
       w = leaf(values(C())); b = leaf(values(C())); g = values(R(), C());
       y = layer_norm(x, {C()}, w, b), grad_of(y, {x, w, b}, g))
VERSUS(SECTION, "batch norm, training", moves(3 * 4 * n(256) * 64 * n(1024)),
       sums(n(256) * n(1024)), x = values(n(256), 64, n(1024));
       w = values(64);
       b = values(64), batch_norm(x, w, b, Tensor(), Tensor(), true, 0.1, 0.001, true))
VERSUS(SECTION, "dropout", moves(vectors(2)), moments, x = values(N()), dropout(x, 0.5, true))
#undef SECTION
