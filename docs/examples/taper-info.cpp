// Prints what Taper finds on this machine, and where something is missing, why.

#include <taper/core/cuda.h>
#include <taper/core/cuda_memory.h>
#include <taper/core/memory.h>
#include <taper/core/parallel.h>
#include <taper/core/version.h>
#include <taper/kernels/backend.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace {

constexpr const char* kHelp =
    R"(Prints what Taper finds on this machine, and where something is missing, why.
Usage: taper-info [OPTIONS]

Options:
  -h,--help                   Print this help message and exit

Environment variables change what is found:
  TAPER_CUDA=emulated         CUDA's kernels run by this machine's processor; off: no CUDA
  TAPER_BLAS=own              Taper's own matrix products instead of cuBLAS's
  TAPER_DNN=own               Taper's own convolutions instead of cuDNN's
)";

double gib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

// 13000 is 13.0, cuDNN's 91900 is 9.19.0.
std::string cuda_version(int version) {
  if (version == 0) return "not found";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}
// `variable` says whose kernels are wanted.
void print_library(const char* name, const char* variable, int version,
                   const std::string& problem) {
  const char* const set = std::getenv(variable);
  const std::string wanted = set && *set ? set : "auto";
  if (version == 0) {
    const bool own_serve = wanted == "auto" || wanted == "own";
    std::printf("  %-14s none, %s: %s\n", name,
                own_serve ? "Taper's own kernels serve" : "what needs it throws", problem.c_str());
  } else {
    std::printf("  %-14s %d.%d.%d%s\n", name, version / 10000, version / 100 % 100, version % 100,
                wanted == "own" ? ", not used: Taper's own kernels serve" : "");
  }
}

void print_cpu() {
  std::string tables;
  for (const std::string& name : taper::kernels::available_cpu_tables()) tables += " " + name;
  std::printf("CPU\n");
  std::printf("  kernels        %s (this processor can run:%s)\n", taper::kernels::cpu_table_name(),
              tables.c_str());
  std::printf("  threads        %d\n", taper::get_num_threads());
  const int64_t available = taper::available_cpu_memory();
  if (available >= 0) std::printf("  memory         %.1f GiB available\n", gib(available));
}

void print_device(taper::DeviceIndex index) {
  namespace cuda = taper::cuda;
  const cuda::DeviceProperties device = cuda::get_device_properties(index);
  const auto [free, total] = cuda::mem_get_info(index);
  std::printf("  cuda:%-9d %s, compute capability %d.%d, %d multiprocessors\n", int(index),
              device.name.c_str(), device.major, device.minor, device.multi_processor_count);
  std::printf("                 %.1f of %.1f GiB free\n", gib(free), gib(total));
}

void print_cuda() {
  namespace cuda = taper::cuda;
  const char* const wanted = std::getenv("TAPER_CUDA");
  std::printf("CUDA (TAPER_CUDA=%s)\n", wanted && *wanted ? wanted : "auto");
  if (!cuda::is_available()) {
    std::printf("  not available: %s\n", cuda::why_not_available().c_str());
    return;
  }
  if (cuda::is_emulated()) {
    std::printf("  emulated       by this machine's processor: right, and slow\n");
  }
  const cuda::Versions versions = cuda::versions();
  std::printf("  driver         for CUDA %s\n", cuda_version(versions.driver).c_str());
  std::printf("  runtime        CUDA %s\n", cuda_version(versions.runtime).c_str());
  print_library("cuBLAS", "TAPER_BLAS", versions.cublas, versions.cublas_problem);
  print_library("cuDNN", "TAPER_DNN", versions.cudnn, versions.cudnn_problem);
  for (taper::DeviceIndex i = 0; i < cuda::device_count(); ++i) print_device(i);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string argument = argc > 1 ? argv[1] : "";
  if (argument == "-h" || argument == "--help") {
    std::printf("%s", kHelp);
    return 0;
  }
  if (argc > 1) {
    std::fprintf(stderr,
                 "The following argument was not expected: %s\nRun with --help for more "
                 "information.\n",
                 argument.c_str());
    return 2;
  }
  std::printf("Taper %s\n", taper::version());
  print_cpu();
  print_cuda();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "taper-info: %s\n", error.what());
  return 1;
}
