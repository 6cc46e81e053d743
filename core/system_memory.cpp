#include "taper/core/system_memory.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "taper/core/memory.h"

namespace taper {

namespace detail {

namespace {

// First number of a file; -1 where the file is missing or says "max".
int64_t read_number(const std::string& path) {
  std::ifstream file(path);
  int64_t value = -1;
  return file >> value ? value : -1;
}

// The number after `key` in a file of "key value" lines.
int64_t read_entry(const std::string& path, const char* key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    int64_t value = -1;
    if (word == key) return file >> value ? value : -1;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return -1;
}

// The control group of this process for a controller of version 1, or of version 2 with "".
std::string cgroup_path(const char* controller) {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string wanted = std::string(",") + controller + ",";
    if (*controller ? names.find(wanted) != std::string::npos : names == ",,") {
      return line.substr(second + 1);
    }
  }
  return "/";
}

// Calls visit(folder) for the control group and each one above it. A container may see its own as
// the root.
template <class Visit>
void for_each_cgroup(const std::string& root, const char* controller, const Visit& visit) {
  std::string path = cgroup_path(controller);
  while (path.size() > 1) {
    visit(root + path);
    path.resize(path.rfind('/'));
  }
  visit(root);
}

// Page cache counts as used, but the system drops it when memory is needed.
int64_t room_in_cgroup(int64_t limit, int64_t usage, int64_t reclaimable) {
  if (limit < 0 || usage < 0 || limit > int64_t{1} << 60) return -1;
  return std::max<int64_t>(0, limit - usage + std::max<int64_t>(0, reclaimable));
}

}  // namespace

AvailableMemory available_memory() {
  AvailableMemory out;
  const int64_t kib = read_entry("/proc/meminfo", "MemAvailable:");
  if (kib >= 0) out = {kib * 1024, "on this machine"};
  const auto limit_to = [&](int64_t bytes, const char* decided_by) {
    if (bytes >= 0 && (out.bytes < 0 || bytes < out.bytes)) out = {bytes, decided_by};
  };
  for_each_cgroup("/sys/fs/cgroup", "", [&](const std::string& group) {
    const int64_t limit = read_number(group + "/memory.max");
    if (limit < 0) return;
    limit_to(room_in_cgroup(limit, read_number(group + "/memory.current"),
                            read_entry(group + "/memory.stat", "inactive_file")),
             "in this process's control group");
  });
  for_each_cgroup("/sys/fs/cgroup/memory", "memory", [&](const std::string& group) {
    const int64_t limit = read_number(group + "/memory.limit_in_bytes");
    if (limit < 0) return;
    limit_to(room_in_cgroup(limit, read_number(group + "/memory.usage_in_bytes"),
                            read_entry(group + "/memory.stat", "total_inactive_file")),
             "in this process's control group");
  });
  return out;
}

int cgroup_cpu_limit() {
  double cpus = 0;
  const auto limit_to = [&](double quota, double period) {
    if (quota > 0 && period > 0 && (cpus == 0 || quota / period < cpus)) cpus = quota / period;
  };
  for_each_cgroup("/sys/fs/cgroup", "", [&](const std::string& group) {
    std::ifstream file(group + "/cpu.max");
    double quota = 0, period = 0;
    if (file >> quota >> period) limit_to(quota, period);
  });
  for_each_cgroup("/sys/fs/cgroup/cpu", "cpu", [&](const std::string& group) {
    limit_to(static_cast<double>(read_number(group + "/cpu.cfs_quota_us")),
             static_cast<double>(read_number(group + "/cpu.cfs_period_us")));
  });
  return cpus == 0 ? 0 : std::max(1, static_cast<int>(std::ceil(cpus)));
}

std::string readable_bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit ? "%.2f %s" : "%.0f %s", value, kUnits[unit]);
  return text;
}

int64_t parse_bytes(const char* text) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text, &end);
  if (end == text || errno || !(value >= 0)) return -1;
  int shift = 0;
  switch (std::toupper(static_cast<unsigned char>(*end))) {
    case 'K':
      shift = 10;
      break;
    case 'M':
      shift = 20;
      break;
    case 'G':
      shift = 30;
      break;
    case 'T':
      shift = 40;
      break;
    case 'B':
    case '\0':
      break;
    default:
      return -1;
  }
  if (shift) ++end;
  if (shift && *end == 'i') ++end;
  if (*end == 'B' || *end == 'b') ++end;
  const double bytes = std::ldexp(value, shift);
  return *end == '\0' && bytes < 0x1p62 ? static_cast<int64_t>(bytes) : -1;
}

}  // namespace detail

int64_t available_cpu_memory() { return detail::available_memory().bytes; }

}  // namespace taper
