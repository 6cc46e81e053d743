// cpu_vs_cuda: the main ops on the CPU and on a CUDA device. Results are compared first, then both
// are timed, the device with events, and set against what it could do: a copy within its memory,
// bare cuBLAS. On the emulator, results are compared and nothing is timed.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bare.h"
#include "compare.h"
#include "options.h"
#include "rows.h"
#include "timing.h"

namespace versus {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string device, filter, json;
  int64_t threads = 0;
  bool check = false, small = false, launches = false;
};

constexpr double kMissing = 0;

std::string with_unit(double value, const std::vector<std::pair<double, const char*>>& units) {
  char text[32];
  for (const auto& [scale, unit] : units) {
    if (value < scale && scale != units.back().first) continue;
    std::snprintf(text, sizeof text, "%.3g %s", value / scale, unit);
    break;
  }
  return value == kMissing ? "" : text;
}
std::string time_text(double ns) {
  return with_unit(ns, {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}});
}
std::string share_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return share == kMissing ? "" : text;
}

/// Bytes that a copy within the device reads and writes in a nanosecond: GB/s.
double copy_speed(Device device) {
  const Tensor from = zeros({N()}, TensorOptions(device)), to = empty_like(from);
  const double ns = time_cuda([&] { copy_within_device(to, from); });
  return 2 * static_cast<double>(from.nbytes()) / ns;
}

double time_bare(const Work& work, Device device, std::string& why) {
  const TensorOptions options = TensorOptions(work.dtype).device(device);
  const Tensor a = empty({work.batch, work.m, work.k}, options).uniform_(-1, 1);
  const Tensor b = empty({work.batch, work.k, work.n}, options).uniform_(-1, 1);
  const Tensor c = empty({work.batch, work.m, work.n}, options);
  const auto product = bare_product(work, a, b, c, &why);
  return product ? time_cuda(product) : kMissing;
}

// ---- A row.

class Versus {
 public:
  explicit Versus(const Options& options)
      : options_(options),
        device_(options.device),
        emulated_(cuda::is_emulated()),
        timed_(!emulated_ && !options.check) {
    set_num_threads(static_cast<int>(options.threads));
    set_small(emulated_ || options.small);
  }

  int run();

 private:
  Json row(const Entry& entry);
  void compare_row(const Entry& entry, Json& out);
  void time_row(const Entry& entry, Json& out);
  void print(const Json& row) const;
  void write_json() const;
  Json head() const;

  const Options& options_;
  const Device device_;
  const bool emulated_, timed_;
  double copy_ = kMissing;
  std::string no_blas_;
  Json rows_ = Json::array();
};

void Versus::compare_row(const Entry& entry, Json& out) {
  const auto run_on = [&](Device device) {
    const auto row = entry.make();
    row->prepare(device, Row::Purpose::kCompare);
    return row->run();
  };
  const Comparison found = compare(run_on(kCPU), run_on(device_), entry.make()->tolerance());
  out["agrees"] = found.agrees;
  out["difference"] = found.difference;
  out["allowed"] = found.allowed;
  if (!found.problem.empty()) out["problem"] = found.problem;
}

void Versus::time_row(const Entry& entry, Json& out) {
  const auto time = [&](Device device, double (*timer)(const std::function<void()>&)) {
    const auto row = entry.make();
    row->prepare(device, Row::Purpose::kTime);
    return timer([&] { row->run(); });
  };
  const double cpu = time(kCPU, time_cpu), cuda = time(device_, time_cuda);
  out["cpu_ns"] = cpu;
  out["cuda_ns"] = cuda;
  out["ratio"] = cpu / cuda;
  const Work work = entry.make()->work();
  if (work.bytes > 0) {
    out["gb_per_s"] = work.bytes / cuda;
    out["share_of_copy"] = work.bytes / cuda / copy_;
  }
  if (work.flops > 0) out["gflop_per_s"] = work.flops / cuda;
  if (work.m > 0) {
    const double bare = time_bare(work, device_, no_blas_);
    if (bare == kMissing) return;
    out["cublas_ns"] = bare;
    out["share_of_cublas"] = bare / cuda;
  }
  if (work.goal > 0) {
    out["goal"] = work.goal;
    out["met"] = out[work.bound_by_memory() ? "share_of_copy" : "share_of_cublas"] >= work.goal;
  }
}

Json Versus::row(const Entry& entry) {
  Json out = {{"section", entry.section},
              {"name", entry.name},
              {"inputs", entry.inputs},
              {"body", entry.body}};
  try {
    compare_row(entry, out);
    // A time of something wrong is worth nothing.
    if (timed_ && out["agrees"]) time_row(entry, out);
  } catch (const std::exception& error) {
    out["agrees"] = false;
    out["problem"] = error.what();
  }
  return out;
}

void Versus::print(const Json& row) const {
  const std::string name = row["name"];
  if (!row["agrees"]) {
    const std::string why = row.contains("problem") ? row["problem"].get<std::string>()
                                                    : "apart by " + row["difference"].dump() +
                                                          " of the largest element, " +
                                                          row["allowed"].dump() + " is allowed";
    std::printf("  %-48s DIFFERS: %s\n", name.c_str(), why.c_str());
  } else if (timed_) {
    const auto number = [&](const char* key) { return row.value(key, kMissing); };
    const std::string rate =
        row.contains("gb_per_s")
            ? with_unit(number("gb_per_s"), {{1e3, "TB/s"}, {1, "GB/s"}})
            : with_unit(number("gflop_per_s"), {{1e3, "TFLOP/s"}, {1, "GFLOP/s"}});
    std::printf("  %-48s %9s %9s %8.1f %14s %9s %9s%s\n", name.c_str(),
                time_text(number("cpu_ns")).c_str(), time_text(number("cuda_ns")).c_str(),
                number("ratio"), rate.c_str(), share_text(number("share_of_copy")).c_str(),
                share_text(number("share_of_cublas")).c_str(),
                row.value("met", true) ? "" : "  below its goal");
  } else if (row["allowed"] == 0) {
    std::printf("  %-48s agrees bit for bit\n", name.c_str());
  } else {
    std::printf("  %-48s agrees (apart by %.1e, allowed %.1e)\n", name.c_str(),
                row["difference"].get<double>(), row["allowed"].get<double>());
  }
  std::fflush(stdout);
}

Json Versus::head() const {
  const cuda::DeviceProperties properties = cuda::get_device_properties(device_.index());
  const cuda::Versions versions = cuda::versions();
  Json out = {
      {"device", properties.name},
      {"capability", std::to_string(properties.major) + "." + std::to_string(properties.minor)},
      {"emulated", emulated_},
      {"timed", timed_},
      {"threads", options_.threads},
      {"sizes", {{"small", emulated_ || options_.small}, {"N", N()}, {"R", R()}, {"C", C()}}},
      {"cuda", versions.runtime},
      {"cublas", versions.cublas},
      {"cudnn", versions.cudnn}};
  if (timed_) out["copy_gb_per_s"] = copy_;
  if (!no_blas_.empty()) out["no_cublas"] = no_blas_;
  return out;
}

// Written after each row: whoever stops the program early has what was measured.
void Versus::write_json() const {
  if (options_.json.empty()) return;
  Json out = head();
  out["rows"] = rows_;
  const std::string beside = options_.json + ".new";
  std::ofstream(beside) << out.dump(1) << "\n";
  TAPER_CHECK(std::rename(beside.c_str(), options_.json.c_str()) == 0, "--json ", options_.json,
              ": cannot be written");
}

int Versus::run() {
  const std::vector<Entry> entries = matching(options_.filter);
  const cuda::DeviceGuard guard(device_);
  std::printf("%s, against %lld threads of the CPU\n",
              cuda::get_device_name(device_.index()).c_str(),
              static_cast<long long>(options_.threads));
  if (emulated_) {
    std::printf(
        "This is the emulator, which says nothing about speed: results are compared, "
        "nothing is timed.\n");
  }
  if (timed_) {
    copy_ = copy_speed(device_);
    std::printf("A copy within the device moves %.4g GB/s, read and written.\n", copy_);
    std::printf("\n  %-48s %9s %9s %8s %14s %9s %9s\n", "", "CPU", "CUDA", "times", "rate",
                "of copy", "of cuBLAS");
  }
  int wrong = 0;
  std::string section;
  for (const Entry& entry : entries) {
    if (section != entry.section) std::printf("\n%s\n", entry.section);
    section = entry.section;
    rows_.push_back(row(entry));
    print(rows_.back());
    write_json();
    if (!rows_.back()["agrees"]) ++wrong;
    cuda::empty_cache();
  }
  if (!no_blas_.empty()) std::printf("\nWithout bare cuBLAS: %s\n", no_blas_.c_str());
  const int count = static_cast<int>(entries.size());
  std::printf("\n%d of %d rows agree.\n", count - wrong, count);
  return wrong ? 1 : 0;
}

/// Each row's call on the device, alone between two lines: for a profiler or the emulator's trace.
int launch(const Options& options) {
  const Device device(options.device);
  const cuda::DeviceGuard guard(device);
  set_small(options.small);
  for (const Entry& entry : matching(options.filter)) {
    const auto row = entry.make();
    row->prepare(device, Row::Purpose::kLaunch);
    row->run();  // the first has plans and an optimizer's state to make
    cuda::synchronize();
    std::printf("row %s: %s%s\n", entry.section, entry.name,
                row->work().bound_by_memory() ? ", bound by memory" : "");
    std::fflush(stdout);
    row->run();
    cuda::synchronize();
    std::printf("end\n");
    std::fflush(stdout);
    cuda::empty_cache();
  }
  return 0;
}

int program(const Options& options) {
  TAPER_CHECK(cuda::is_available(),
              "no device to compare the CPU with: ", cuda::why_not_available());
  TAPER_CHECK(Device(options.device).is_cuda(), "--device ", options.device,
              ": the CPU is what the device is compared with; expected cuda or cuda:N");
  return options.launches ? launch(options) : Versus(options).run();
}

}  // namespace
}  // namespace versus

int main(int argc, char** argv) {
  // Float is float on both sides; NVIDIA's libraries read this when they are loaded.
  setenv("NVIDIA_TF32_OVERRIDE", "0", /*overwrite=*/0);
  versus::Options options;
  examples::CommandLine line(
      "The main ops on the CPU and on a CUDA device: compared, then timed with events.");
  line.device("--device", options.device);
  line.threads(options.threads);
  line.text("--filter", options.filter,
            "Only rows with this regular expression in 'SECTION: NAME'");
  line.text("--json", options.json, "Also write everything to this file");
  line.flag("--check", options.check, "Compare the results only");
  line.flag("--small", options.small, "Sizes as on the emulator, a 64th along each dimension");
  line.flag("--launches", options.launches,
            "Run each row on the device alone, at full size, its name before and 'end' after");
  return line.run(argc, argv, [&] { return versus::program(options); });
}
