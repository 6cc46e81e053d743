#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "bench.h"

// The program that bench/compare runs: one JSON line for each row, and each part of a row.

namespace bench {
namespace {

// JSON's string, for names that hold neither quotes nor backslashes.
std::string quoted(const std::string& text) { return '"' + text + '"'; }

uint64_t next(uint64_t& state) {  // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

std::vector<Entry>& entries() {
  static std::vector<Entry> list;
  return list;
}

Tensor values(std::vector<int64_t> sizes, double low, double high, uint64_t seed) {
  Tensor tensor = torch::empty(sizes, torch::kFloat);
  float* data = tensor.data_ptr<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    data[i] = static_cast<float>(low + (high - low) * double(next(seed) >> 11) * 0x1p-53);
  }
  return tensor;
}

Tensor whole_numbers(std::vector<int64_t> sizes, int64_t end, uint64_t seed) {
  Tensor tensor = torch::empty(sizes, torch::kLong);
  int64_t* data = tensor.data_ptr<int64_t>();
  for (int64_t i = 0; i < tensor.numel(); ++i) data[i] = int64_t(next(seed) % uint64_t(end));
  return tensor;
}

void fill(const std::vector<Tensor>& parameters) {
  const torch::NoGradGuard no_grad;
  uint64_t seed = 7;
  for (Tensor parameter : parameters) {
    const double bound = 1 / std::sqrt(double(parameter.numel() / parameter.size(0)) + 1);
    parameter.copy_(values(parameter.sizes().vec(), -bound, bound, seed++));
  }
}

void Row::report(const std::string& part, double value, const char* unit) const {
  if (settings.check) return;
  const std::string name = part.empty() ? name_ : name_ + ": " + part;
  std::printf("{\"name\": %s, \"%s\": %.6g}\n", quoted(name).c_str(), unit, value);
}

void Row::report_median(const std::string& part, std::vector<double> samples, int64_t items) const {
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  const double median = samples[samples.size() / 2];
  if (items == 0) return report(part, median);
  std::printf("{\"name\": %s, \"ns\": %.6g, \"items\": %lld}\n", quoted(name_).c_str(), median,
              static_cast<long long>(items));
}

void Row::result(const Tensor& tensor) const { result(std::vector<Tensor>{tensor}); }

void Row::result(const std::vector<Tensor>& tensors) const {
  if (!settings.check || tolerance < 0) return;
  double count = 0, sum = 0, weighted = 0, magnitude = 0;
  for (const Tensor& tensor : tensors) {
    const Tensor flat = tensor.detach().to(torch::kDouble).contiguous();
    const double* data = flat.data_ptr<double>();
    for (int64_t i = 0; i < flat.numel(); ++i) {
      sum += data[i];
      weighted += data[i] * double(i % 97) / 97;  // order counts too
      magnitude += std::abs(data[i]);
    }
    count += double(flat.numel());
  }
  std::printf("{\"name\": %s, \"result\": [%.17g, %.17g, %.17g, %.17g], \"tolerance\": %g}\n",
              quoted(name_).c_str(), count, sum, weighted, magnitude, tolerance);
}

namespace {

int run(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> only;
  int threads = 1;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--quick") {
      settings.quick = true;
      settings.samples = 3;
      settings.sample_seconds = 0.003;
    } else if (option == "--check") {
      settings.check = true;
    } else if (option == "--list") {
      list = true;
    } else if (option == "--threads" && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else if (option.rfind("--", 0) != 0) {
      only.push_back(option);
    } else {
      std::fprintf(stderr, "usage: %s [--list] [--check] [--quick] [--threads N] [ROW...]\n",
                   argv[0]);
      return 2;
    }
  }
  torch::set_num_threads(threads);

  int failed = 0;
  for (const Entry& entry : entries()) {
    if (list) {
      std::printf("{\"name\": %s, \"section\": %s, \"goal\": %.4g}\n", quoted(entry.name).c_str(),
                  quoted(entry.section).c_str(), entry.goal);
      continue;
    }
    if (!only.empty() && std::find(only.begin(), only.end(), entry.name) == only.end()) continue;
    try {
      torch::manual_seed(0);
      Row row(entry.name, settings);
      entry.function(row);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", entry.name, error.what());
      failed = 1;
    }
    std::fflush(stdout);
  }
  return failed;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv); }
