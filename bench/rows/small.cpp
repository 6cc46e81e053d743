// Ops so small that only the way to the kernel counts.

#include "bench.h"

using namespace bench;

static constexpr const char* kSection = "Small ops";

BENCH(kSection, kSmall, "add, 1 element") {
  const Tensor a = values({1}), b = values({1});
  row.time([&] { return a + b; });
}
BENCH(kSection, kSmall, "add, 1 element, recorded") {
  const Tensor a = values({1}).requires_grad_(), b = values({1});
  row.time([&] { return a + b; });
}
BENCH(kSection, kSmall, "add a number") {
  const Tensor a = values({1});
  row.time([&] { return a + 1.5; });
}
BENCH(kSection, kSmall, "add a number, recorded") {
  const Tensor a = values({1}).requires_grad_();
  row.time([&] { return a + 1.5; });
}
BENCH(kSection, kSmall, "add_, 1 element") {
  Tensor a = values({1});
  const Tensor b = values({1});
  row.time([&] { a.add_(b); });
}
BENCH(kSection, kSmall, "view of 8x8") {
  const Tensor a = values({8, 8});
  row.time([&] { return a.view({64}); });
}
BENCH(kSection, kSmall, "select of 8x8") {
  const Tensor a = values({8, 8});
  row.time([&] { return a.select(0, 3); });
}
BENCH(kSection, kSmall, "sum of 8x8") {
  const Tensor a = values({8, 8});
  row.time([&] { return a.sum(); });
}
BENCH(kSection, kSmall, "matmul 8x8") {
  const Tensor a = values({8, 8}), b = values({8, 8});
  row.time([&] { return torch::matmul(a, b); });
}
BENCH(kSection, kSmall, "8x8 + row of 8") {
  const Tensor a = values({8, 8}), b = values({8});
  row.time([&] { return a + b; });
}
BENCH(kSection, kSmall, "8x8 transposed, contiguous") {
  const Tensor a = values({8, 8});
  row.time([&] { return a.t().contiguous(); });
}
BENCH(kSection, kSmall, "float32 + float64, 8x8") {
  const Tensor a = values({8, 8}), b = values({8, 8}).to(torch::kDouble);
  row.time([&] { return a + b; });
}
