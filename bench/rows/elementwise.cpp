// Elementwise ops: maths on 100,000 floats in the cache, memory traffic on 10 million.

#include "bench.h"

using namespace bench;

static constexpr const char* kSection = "Elementwise";
static constexpr int64_t kMaths = 100'000;

BENCH(kSection, kOther, "exp, 100k") {
  const Tensor x = values({kMaths}, -10, 10);
  row.time([&] { return x.exp(); });
}
BENCH(kSection, kOther, "log, 100k") {
  const Tensor x = values({kMaths}, 1e-3, 100);
  row.time([&] { return x.log(); });
}
BENCH(kSection, kOther, "sin, 100k") {
  const Tensor x = values({kMaths}, -10, 10);
  row.time([&] { return x.sin(); });
}
BENCH(kSection, kOther, "tanh, 100k") {
  const Tensor x = values({kMaths}, -4, 4);
  row.time([&] { return x.tanh(); });
}
BENCH(kSection, kOther, "sigmoid, 100k") {
  const Tensor x = values({kMaths}, -10, 10);
  row.time([&] { return x.sigmoid(); });
}
BENCH(kSection, kOther, "erf, 100k") {
  const Tensor x = values({kMaths}, -3, 3);
  row.time([&] { return x.erf(); });
}
BENCH(kSection, kOther, "gelu, 100k") {
  const Tensor x = values({kMaths}, -4, 4);
  row.time([&] { return torch::gelu(x); });
}
BENCH(kSection, kOther, "pow of two tensors, 100k") {
  const Tensor x = values({kMaths}, 0.1, 10), y = values({kMaths}, -3, 3, 2);
  row.time([&] { return torch::pow(x, y); });
}
BENCH(kSection, kOther, "exp in float64, 100k") {
  const Tensor x = values({kMaths}, -10, 10).to(torch::kDouble);
  row.time([&] { return x.exp(); });
}
BENCH(kSection, kOther, "relu, 100k") {
  const Tensor x = values({kMaths});
  row.time([&] { return x.relu(); });
}
BENCH(kSection, kOther, "where(x > 0, x, y), 100k") {
  const Tensor x = values({kMaths}), y = values({kMaths}, -1, 1, 2);
  row.time([&] { return torch::where(x > 0, x, y); });
}
BENCH(kSection, kOther, "float32 to float64, 100k") {
  const Tensor x = values({kMaths});
  row.time([&] { return x.to(torch::kDouble); });
}
BENCH(kSection, kOther, "add, 10 M, out of place") {
  const Tensor a = values({10'000'000}), b = values({10'000'000}, -1, 1, 2);
  row.time([&] { return a + b; });
}
BENCH(kSection, kOther, "add_, 10 M, in place") {
  Tensor a = values({10'000'000});
  const Tensor b = values({10'000'000}, -1e-3, 1e-3, 2);
  row.time([&] { a.add_(b); });
  row.result(a);
}
BENCH(kSection, kOther, "4096x1024 + row of 1024") {
  const Tensor a = values({4096, 1024}), b = values({1024});
  row.time([&] { return a + b; });
}
BENCH(kSection, kOther, "4096x1024 transposed, contiguous") {
  const Tensor x = values({4096, 1024});
  row.time([&] { return x.t().contiguous(); });
}
BENCH(kSection, kOther, "x.t() + w, 4096x1024") {
  const Tensor x = values({4096, 1024}), w = values({1024, 4096});
  row.time([&] { return x.t() + w; });
}
