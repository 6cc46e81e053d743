// Random numbers, 4 million.

#include "bench.h"

using namespace bench;

static constexpr const char* kSection = "Random numbers (4 M)";
static constexpr int64_t kNumbers = 4'000'000;

BENCH(kSection, kOther, "rand") {
  row.time([&] { return torch::rand({kNumbers}); });
}
BENCH(kSection, kOther, "randn") {
  row.time([&] { return torch::randn({kNumbers}); });
}
BENCH(kSection, kOther, "randperm") {
  row.time([&] { return torch::randperm(kNumbers); });
}
// On Intel processors LibTorch takes MKL's generator here, so that results differ.
BENCH(kSection, kOther, "bernoulli_(0.3)") {
  row.tolerance = -1;
  Tensor x = torch::empty({kNumbers});
  row.time([&] { x.bernoulli_(0.3); });
}
BENCH(kSection, kOther, "dropout 0.5") {
  row.tolerance = -1;
  const Tensor x = torch::ones({kNumbers});
  row.time([&] { return torch::dropout(x, 0.5, /*train=*/true); });
}
