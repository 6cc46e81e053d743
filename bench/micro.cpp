// Taper alone, over ranges of sizes: where an op stops being bound by its way to the kernel, where
// threads begin to pay (--threads=N), what an instruction set brings (TAPER_CPU=v2|v3|v4).
//   build/release/bin/bench_micro --threads=2 --benchmark_filter=exp

#include <benchmark/benchmark.h>
#include <taper/taper.h>

#include <cstdlib>
#include <cstring>

namespace {

using taper::Tensor;

// `floats`: how many floats an element costs in memory traffic.
template <class F>
void run(benchmark::State& state, int64_t elements, int64_t floats, const F& f) {
  for (auto _ : state) benchmark::DoNotOptimize(f());
  state.SetItemsProcessed(state.iterations() * elements);
  state.SetBytesProcessed(state.iterations() * elements * floats * 4);
}

void add(benchmark::State& state) {
  const Tensor a = taper::rand({state.range(0)}), b = taper::rand({state.range(0)});
  run(state, state.range(0), 3, [&] { return a + b; });
}
void add_in_place(benchmark::State& state) {
  Tensor a = taper::rand({state.range(0)});
  const Tensor b = taper::rand({state.range(0)});
  run(state, state.range(0), 3, [&] { return a.add_(b); });
}
void add_strided(benchmark::State& state) {
  const Tensor a = taper::rand({state.range(0), 2}).select(1, 0), b = taper::rand({state.range(0)});
  run(state, state.range(0), 4, [&] { return a + b; });
}
void exp(benchmark::State& state) {
  const Tensor x = taper::randn({state.range(0)});
  run(state, state.range(0), 2, [&] { return x.exp(); });
}
void sum(benchmark::State& state) {
  const Tensor x = taper::randn({state.range(0)});
  run(state, state.range(0), 1, [&] { return x.sum(); });
}
void matmul(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Tensor a = taper::randn({n, n}), b = taper::randn({n, n});
  for (auto _ : state) benchmark::DoNotOptimize(taper::matmul(a, b));
  state.counters["flops"] = benchmark::Counter(2.0 * double(n) * double(n) * double(n),
                                               benchmark::Counter::kIsIterationInvariantRate);
}
void chain_and_backward(benchmark::State& state) {
  const Tensor x = taper::ones({1}).requires_grad_();
  for (auto _ : state) {
    Tensor y = x;
    for (int64_t i = 0; i < state.range(0); ++i) y = y * x;
    y.backward();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(8)->Range(1, 1 << 24)->UseRealTime();
}

BENCHMARK(add)->Apply(sizes);
BENCHMARK(add_in_place)->Apply(sizes);
BENCHMARK(add_strided)->Apply(sizes);
BENCHMARK(exp)->Apply(sizes);
BENCHMARK(sum)->Apply(sizes);
BENCHMARK(matmul)->RangeMultiplier(2)->Range(4, 2048)->UseRealTime();
BENCHMARK(chain_and_backward)->RangeMultiplier(10)->Range(1, 1'000'000);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  int threads = 1;
  if (argc == 2 && std::strncmp(argv[1], "--threads=", 10) == 0) {
    threads = std::atoi(argv[1] + 10);
  } else if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  taper::set_num_threads(threads);
  benchmark::RunSpecifiedBenchmarks();
}
