// Rows, gathers and joins.

#include "bench.h"

using namespace bench;

static constexpr const char* kSection = "Indexing";

BENCH(kSection, kOther, "index_select, 20,000 of 50,000 rows of 128") {
  const Tensor x = values({50'000, 128}), index = whole_numbers({20'000}, 50'000);
  row.time([&] { return x.index_select(0, index); });
}
BENCH(kSection, kOther, "gather over dim 1, 4096x1024") {
  const Tensor x = values({4096, 1024}), index = whole_numbers({4096, 1024}, 1024);
  row.time([&] { return x.gather(1, index); });
}
BENCH(kSection, kOther, "x.index({mask}), 1 M") {
  const Tensor x = values({1'000'000});
  const Tensor mask = x > 0;
  row.time([&] { return x.index({mask}); });
}
BENCH(kSection, kOther, "cat of 8 x 512x1024, dim 0") {
  std::vector<Tensor> parts;
  for (uint64_t i = 0; i < 8; ++i) parts.push_back(values({512, 1024}, -1, 1, i));
  row.time([&] { return torch::cat(parts, 0); });
}
BENCH(kSection, kOther, "cat of 8 x 512x1024, dim 1") {
  std::vector<Tensor> parts;
  for (uint64_t i = 0; i < 8; ++i) parts.push_back(values({512, 1024}, -1, 1, i));
  row.time([&] { return torch::cat(parts, 1); });
}
BENCH(kSection, kOther, "embedding 10,000x128, 4,096 indices, forward") {
  const Tensor weight = values({10'000, 128}), index = whole_numbers({4096}, 10'000);
  row.time([&] { return torch::embedding(weight, index); });
}
BENCH(kSection, kOther, "embedding 10,000x128, 4,096 indices, backward") {
  const Tensor weight = values({10'000, 128}).requires_grad_();
  const Tensor index = whole_numbers({4096}, 10'000), grad = values({4096, 128});
  const Tensor y = torch::embedding(weight, index);
  row.time([&] { return torch::autograd::grad({y}, {weight}, {grad}, /*retain_graph=*/true); });
}
