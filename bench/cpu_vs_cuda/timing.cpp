#include "timing.h"

#include <taper/core/cuda_stream.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace versus {

namespace {

constexpr int kSamples = 9;
constexpr double kSampleNs = 3e6;  // an event's clock ticks every 500 ns or so
constexpr double kCpuNs = 2e8;     // for all samples of a row on the CPU

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double run_between_events(const std::function<void()>& call, int64_t count) {
  taper::cuda::Event begin(/*enable_timing=*/true), end(/*enable_timing=*/true);
  begin.record();
  for (int64_t k = 0; k < count; ++k) call();
  end.record();
  end.synchronize();
  return static_cast<double>(begin.elapsed_time(end)) * 1e6;
}

}  // namespace

double time_cpu(const std::function<void()>& call) {
  std::vector<double> samples;
  double all = 0;
  while (samples.empty() || (all < kCpuNs && samples.size() < kSamples)) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    samples.push_back(took.count());
    all += took.count();
  }
  return median(std::move(samples));
}

double time_cuda(const std::function<void()>& call) {
  run_between_events(call, 2);  // plans, memory, clocks
  int64_t count = 1;
  for (double ns = run_between_events(call, 1); ns < kSampleNs && count < 4096;) {
    count *= 2;
    ns = run_between_events(call, count);
  }
  std::vector<double> samples;
  for (int k = 0; k < kSamples; ++k) {
    samples.push_back(run_between_events(call, count) / static_cast<double>(count));
  }
  return median(std::move(samples));
}

}  // namespace versus
