#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "taper/kernels/cuda/allocator.h"
#include "taper/kernels/cuda/device_guard.h"

// What the allocator says to people.

namespace taper::kernels::cuda {

std::string size_text(int64_t bytes) {
  char text[64];
  const auto n = static_cast<double>(bytes);
  if (bytes < 1024) {
    std::snprintf(text, sizeof text, "%lld bytes", static_cast<long long>(bytes));
  } else if (bytes < 1024 * 1024) {
    std::snprintf(text, sizeof text, "%.2f KiB", n / 1024);
  } else if (bytes < 1024 * 1024 * 1024) {
    std::snprintf(text, sizeof text, "%.2f MiB", n / 1048576);
  } else {
    std::snprintf(text, sizeof text, "%.2f GiB", n / 1073741824);
  }
  return text;
}

std::string out_of_memory_text(int device, int64_t wanted, int64_t limit,
                               const DeviceMemoryStats& stats) {
  const DeviceGuard guard(device);
  size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) cudaGetLastError();
  const int64_t allocated = stats.allocated_bytes.current;
  std::string text = "CUDA out of memory. Tried to allocate " + size_text(wanted) + ". GPU " +
                     std::to_string(device) + " has a total capacity of " +
                     size_text(static_cast<int64_t>(total)) + " of which " +
                     size_text(static_cast<int64_t>(free)) + " is free. ";
  if (limit != kNoLimit) text += size_text(limit) + " allowed; ";
  text += "Of the allocated memory " + size_text(allocated) + " is allocated by Taper, and " +
          size_text(stats.reserved_bytes.current - allocated) +
          " is reserved by Taper but unallocated.";
  return text;
}

namespace {

std::string padded(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

// Ten characters: a number of at most six, and its unit.
std::string cell(int64_t value, bool bytes) {
  static constexpr const char* kBytes[] = {" B  ", " KiB", " MiB", " GiB", " TiB"};
  static constexpr const char* kNumbers[] = {"    ", " K  ", " M  ", " G  ", " T  "};
  const int64_t step = bytes ? 1024 : 1000;
  size_t unit = 0;
  for (; unit < 4 && value >= 10 * step; ++unit) value /= step;
  return padded(std::to_string(value), 6) + (bytes ? kBytes : kNumbers)[unit];
}

std::string row(const char* name, const std::string& a, const std::string& b, const std::string& c,
                const std::string& d) {
  char text[96];
  std::snprintf(text, sizeof text, "| %-21s | %-10s | %-10s | %-10s | %-10s |\n", name, a.c_str(),
                b.c_str(), c.c_str(), d.c_str());
  return text;
}

std::string row(const char* name, const MemoryCounter& counter, bool bytes) {
  return row(name, cell(counter.current, bytes), cell(counter.peak, bytes),
             cell(counter.allocated, bytes), cell(counter.freed, bytes));
}

std::string centred(const std::string& text, size_t width) {
  const size_t left = (width - text.size()) / 2;
  return std::string(left, ' ') + text + std::string(width - text.size() - left, ' ');
}

}  // namespace

std::string memory_table(int device, const DeviceMemoryStats& stats) {
  constexpr size_t kWidth = 75;
  const std::string thick = "|" + std::string(kWidth, '=') + "|\n";
  const std::string thin = "|" + std::string(kWidth, '-') + "|\n";
  const std::string title = "Taper CUDA memory summary, device " + std::to_string(device);
  const std::string ooms = "CUDA OOMs: " + std::to_string(stats.ooms);
  const std::string retries = "cudaMalloc retries: " + std::to_string(stats.alloc_retries);
  return thick + "|" + centred(title, kWidth) + "|\n" + thin + "|" + centred(ooms, 37) + "|" +
         centred(retries, 37) + "|\n" + thick +
         row("       Metric", "Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed") + thin +
         row("Allocated memory", stats.allocated_bytes, true) +
         row("Active memory", stats.active_bytes, true) +
         row("Requested memory", stats.requested_bytes, true) +
         row("GPU reserved memory", stats.reserved_bytes, true) +
         row("Non-releasable memory", stats.inactive_split_bytes, true) + thin +
         row("Allocations", stats.allocation, false) +
         row("GPU reserved segments", stats.segment, false) + thick;
}

}  // namespace taper::kernels::cuda
