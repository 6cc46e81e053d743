#pragma once

// What the rows of bench/compare are made of. The sources in rows/ are LibTorch programs: compare
// builds them against LibTorch and, through compat/torch, against Taper. Why an own timer: pairs
// are measured by turns in separate processes, which needs less than Google Benchmark brings.

#include <torch/torch.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace bench {

using torch::Tensor;

// Goals: the share of LibTorch's time that a row may take. The geometric mean is over kOther.
constexpr double kSmall = 0.20;
constexpr double kAdam = 0.30;
constexpr double kCnn = 1 / 1.6;
constexpr double kMlp = 0.75;
constexpr double kOther = 1.10;

struct Settings {
  bool quick = false;
  bool check = false;            // run each row once and print what it computes, without timing
  int samples = 5;               // the median of so many counts
  double sample_seconds = 0.02;  // each of at least this length
};

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The compiler must believe that somebody looks at `value`.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

// What a row's function gets: it prepares its tensors and calls `time` or `report`.
class Row {
 public:
  Row(std::string name, const Settings& settings) : settings(settings), name_(std::move(name)) {}

  // The time of a call f(), its result's destruction included. `items`: samples in a call, for
  // rates.
  template <class F>
  void time(const F& f, int64_t items = 0) {
    if (settings.check) {
      if constexpr (std::is_void_v<decltype(f())>) {
        f();
      } else {
        result(f());
      }
      return;
    }
    const double first = run(f, 1);  // fills caches and pools
    int64_t count = 1;
    for (double ns = first; ns * 4 < settings.sample_seconds * 1e9; count *= 4) {
      ns = run(f, count * 4);
    }
    std::vector<double> samples;
    for (int i = 0; i < settings.samples; ++i) samples.push_back(run(f, count) / double(count));
    report_median("", std::move(samples), items);
  }

  // A part of a row that measures by itself.
  void report(const std::string& part, double value, const char* unit = "ns") const;
  void report_median(const std::string& part, std::vector<double> samples, int64_t items = 0) const;

  // What is compared before anything is timed.
  void result(const Tensor& tensor) const;
  void result(const std::vector<Tensor>& tensors) const;
  template <class... T>
  void result(const std::tuple<T...>& tensors) const {
    result(std::get<0>(tensors));
  }

  const Settings& settings;
  // Largest difference, relative to the sum of the absolute values. Negative: results are random.
  double tolerance = 1e-4;

 private:
  template <class F>
  static double run(const F& f, int64_t count) {
    const double start = now_ns();
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_void_v<decltype(f())>) {
        f();
      } else {
        const auto value = f();
        keep(value);
      }
    }
    return now_ns() - start;
  }

  std::string name_;
};

struct Entry {
  const char* section;
  double goal;
  const char* name;
  void (*function)(Row&);
};
std::vector<Entry>& entries();

struct Registration {
  Registration(const char* section, double goal, const char* name, void (*function)(Row&)) {
    entries().push_back({section, goal, name, function});
  }
};

// Numbers from an own generator, so that both libraries compute on the same ones.
Tensor values(std::vector<int64_t> sizes, double low = -1, double high = 1, uint64_t seed = 1);
Tensor whole_numbers(std::vector<int64_t> sizes, int64_t end, uint64_t seed = 1);
void fill(const std::vector<Tensor>& parameters);

}  // namespace bench

#define BENCH(section, goal, name) BENCH_NUMBERED(__COUNTER__, section, goal, name)
#define BENCH_NUMBERED(...) BENCH_ROW(__VA_ARGS__)
#define BENCH_ROW(number, section, goal, name)                                                 \
  static void row_##number(::bench::Row& row);                                                 \
  static const ::bench::Registration registration_##number{section, goal, name, row_##number}; \
  static void row_##number([[maybe_unused]] ::bench::Row& row)
