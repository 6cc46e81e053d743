// Recording and going back through chains of small ops.

#include <unistd.h>

#include <cstdio>

#include "bench.h"

using namespace bench;

static constexpr const char* kSection = "Tape";

// Resident memory, in bytes.
static double resident() {
  long size = 0, pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &size, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return double(pages) * double(sysconf(_SC_PAGESIZE));
}

BENCH(kSection, kSmall, "100 multiplications y = y * w and backward") {
  const Tensor x = torch::ones({1}).requires_grad_(), w = torch::ones({1});
  const auto chain = [&] {
    Tensor y = x;
    for (int i = 0; i < 100; ++i) y = y * w;
    y.backward();
  };
  row.time(chain);
  row.result(x.grad());
}
BENCH(kSection, kSmall, "100 multiplications y = y * x and backward") {
  const Tensor x = torch::ones({1}).requires_grad_();
  const auto chain = [&] {
    Tensor y = x;
    for (int i = 0; i < 100; ++i) y = y * x;
    y.backward();
  };
  row.time(chain);
  row.result(x.grad());
}

// Time and memory of an op in a long chain: building it, going back, freeing it unused.
BENCH(kSection, kSmall, "chain of 1 M ops") {
  const int64_t n = row.settings.quick || row.settings.check ? 100'000 : 1'000'000;
  const Tensor x = torch::ones({1}).requires_grad_(), w = torch::ones({1});
  const auto build = [&] {
    Tensor y = x;
    for (int64_t i = 0; i < n; ++i) y = y * w;
    return y;
  };
  const double before = resident();
  double start = now_ns();
  const auto lap = [&](const char* part) {
    row.report(part, (now_ns() - start) / double(n));
    start = now_ns();
  };
  Tensor y = build();
  lap("forward, per op");
  const double after = resident();
  row.report("memory, per op", (after - before) / double(n), "bytes");
  start = now_ns();
  y.backward();
  lap("backward, per op");
  y = build();
  start = now_ns();
  y = Tensor();
  lap("free, per op");
  row.result(x.grad());
}
