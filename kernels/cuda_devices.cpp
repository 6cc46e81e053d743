// core/cuda.h and core/cuda_memory.h: what they ask, the module answers.

#include <array>
#include <vector>

#include "taper/core/cuda_memory.h"
#include "taper/core/error.h"
#include "taper/core/generator.h"
#include "taper/kernels/device_module.h"
#include "taper/kernels/streams.h"

namespace taper::cuda {

using kernels::check_runtime;
using kernels::cuda_module;
using kernels::find_cuda_module;

namespace {

thread_local constinit DeviceIndex current = 0;

DeviceIndex checked(int64_t device, const char* what) {
  const int count = kernels::cuda_device_count(what);
  if (device == -1) return current;
  TAPER_CHECK(device >= 0 && device < count, what, ": there is no device cuda:", device,
              "; this machine has ",
              count == 1 ? std::string("one: cuda:0")
                         : std::to_string(count) + ", cuda:0 to cuda:" + std::to_string(count - 1));
  return static_cast<DeviceIndex>(device);
}

kernels::DeviceProperties properties_of(DeviceIndex device, const char* what) {
  device = checked(device, what);
  kernels::DeviceProperties properties{};
  check_runtime(cuda_module(what).runtime.properties(device, &properties), what,
                Device(kCUDA, device));
  return properties;
}

}  // namespace

bool is_available() { return find_cuda_module() != nullptr; }

DeviceIndex device_count() {
  return is_available() ? static_cast<DeviceIndex>(kernels::cuda_device_count("device_count")) : 0;
}

std::string why_not_available() {
  std::string why;
  find_cuda_module(&why);
  return why;
}

bool is_emulated() {
  const kernels::DeviceModule* const module = find_cuda_module();
  return module && module->kind == std::string("emulated");
}

bool cudnn_is_available() {
  const kernels::DeviceModule* const module = find_cuda_module();
  kernels::DeviceVersions versions{};
  return module && module->runtime.versions(&versions).ok() && versions.dnn > 0;
}

DeviceIndex current_device() { return checked(-1, "cuda::current_device"); }

void set_device(DeviceIndex device) {
  TAPER_CHECK(device >= 0, "cuda::set_device: expected an index of at least 0, got ", int(device));
  current = checked(device, "cuda::set_device");
}

DeviceProperties get_device_properties(DeviceIndex device) {
  const kernels::DeviceProperties from = properties_of(device, "cuda::get_device_properties");
  return {.name = from.name,
          .major = from.major,
          .minor = from.minor,
          .total_memory = from.total_memory,
          .multi_processor_count = from.multi_processor_count,
          .warp_size = from.warp_size,
          .max_threads_per_block = from.max_threads_per_block,
          .max_threads_per_multi_processor = from.max_threads_per_multi_processor,
          .shared_memory_per_block = from.shared_memory_per_block,
          .shared_memory_per_block_optin = from.shared_memory_per_block_opt_in,
          .shared_memory_per_multiprocessor = from.shared_memory_per_multi_processor,
          .regs_per_multiprocessor = from.registers_per_multi_processor,
          .L2_cache_size = from.l2_cache_size,
          .is_integrated = from.integrated};
}

std::string get_device_name(DeviceIndex device) {
  return properties_of(device, "cuda::get_device_name").name;
}

std::pair<int, int> get_device_capability(DeviceIndex device) {
  const kernels::DeviceProperties from = properties_of(device, "cuda::get_device_capability");
  return {from.major, from.minor};
}

bool can_device_access_peer(DeviceIndex device, DeviceIndex peer) {
  constexpr const char* kName = "cuda::can_device_access_peer";
  bool answer = false;
  device = checked(device, kName);
  check_runtime(cuda_module(kName).runtime.can_access_peer(device, checked(peer, kName), &answer),
                kName, Device(kCUDA, device));
  return answer;
}

Versions versions() {
  kernels::DeviceVersions from{};
  check_runtime(cuda_module("cuda::versions").runtime.versions(&from), "cuda::versions",
                Device(kCUDA, current));
  return {from.driver, from.runtime, from.blas, from.dnn};
}

void synchronize(int64_t device_index) {
  const DeviceIndex device = checked(device_index, "cuda::synchronize");
  check_runtime(cuda_module("cuda::synchronize").runtime.device_synchronize(device),
                "cuda::synchronize", Device(kCUDA, device));
}

// Before any device is used, "the current one" is device 0 of what may be there.
void manual_seed(uint64_t seed) { taper::detail::seed_cuda_generators(seed, current); }
void manual_seed_all(uint64_t seed) { taper::detail::seed_cuda_generators(seed, -1); }

DeviceGuard::DeviceGuard(DeviceIndex device) : before_(current) { set_device(device); }
DeviceGuard::DeviceGuard(Device device) : before_(current) {
  if (device.is_cuda()) current = checked(device.index(), "cuda::DeviceGuard");
}
DeviceGuard::~DeviceGuard() { current = before_; }

// ---- Memory.

namespace {

kernels::DeviceMemoryStats stats_of(DeviceIndex device, const char* what) {
  device = checked(device, what);
  kernels::DeviceMemoryStats stats{};
  check_runtime(cuda_module(what).runtime.memory_stats(device, &stats), what,
                Device(kCUDA, device));
  return stats;
}

}  // namespace

int64_t memory_allocated(DeviceIndex device) {
  return stats_of(device, "cuda::memory_allocated").allocated_bytes.current;
}
int64_t max_memory_allocated(DeviceIndex device) {
  return stats_of(device, "cuda::max_memory_allocated").allocated_bytes.peak;
}
int64_t memory_reserved(DeviceIndex device) {
  return stats_of(device, "cuda::memory_reserved").reserved_bytes.current;
}
int64_t max_memory_reserved(DeviceIndex device) {
  return stats_of(device, "cuda::max_memory_reserved").reserved_bytes.peak;
}

void reset_peak_memory_stats(DeviceIndex device) {
  constexpr const char* kName = "cuda::reset_peak_memory_stats";
  device = checked(device, kName);
  check_runtime(cuda_module(kName).runtime.reset_peak_memory_stats(device), kName,
                Device(kCUDA, device));
}

void reset_accumulated_memory_stats(DeviceIndex device) {
  constexpr const char* kName = "cuda::reset_accumulated_memory_stats";
  device = checked(device, kName);
  check_runtime(cuda_module(kName).runtime.reset_accumulated_memory_stats(device), kName,
                Device(kCUDA, device));
}

std::map<std::string, int64_t> memory_stats(DeviceIndex device) {
  const kernels::DeviceMemoryStats stats = stats_of(device, "cuda::memory_stats");
  std::map<std::string, int64_t> named;
  const auto add = [&](const std::string& name, const kernels::MemoryCounter& counter) {
    named[name + ".all.current"] = counter.current;
    named[name + ".all.peak"] = counter.peak;
    named[name + ".all.allocated"] = counter.allocated;
    named[name + ".all.freed"] = counter.freed;
  };
  add("allocation", stats.allocation);
  add("segment", stats.segment);
  add("allocated_bytes", stats.allocated_bytes);
  add("reserved_bytes", stats.reserved_bytes);
  add("active_bytes", stats.active_bytes);
  add("inactive_split_bytes", stats.inactive_split_bytes);
  add("requested_bytes", stats.requested_bytes);
  named["num_alloc_retries"] = stats.alloc_retries;
  named["num_ooms"] = stats.ooms;
  return named;
}

std::string memory_summary(DeviceIndex device) {
  constexpr const char* kName = "cuda::memory_summary";
  device = checked(device, kName);
  const char* text = nullptr;
  check_runtime(cuda_module(kName).runtime.memory_summary(device, &text), kName,
                Device(kCUDA, device));
  return text;
}

std::pair<int64_t, int64_t> mem_get_info(DeviceIndex device) {
  constexpr const char* kName = "cuda::mem_get_info";
  device = checked(device, kName);
  int64_t free = 0, total = 0;
  check_runtime(cuda_module(kName).runtime.memory_info(device, &free, &total), kName,
                Device(kCUDA, device));
  return {free, total};
}

// Nothing was cached by a module that was never loaded.
void empty_cache() {
  if (!kernels::cuda_module_is_loaded()) return;
  check_runtime(cuda_module("cuda::empty_cache").runtime.empty_cache(), "cuda::empty_cache",
                Device(kCUDA, current));
}

void set_per_process_memory_fraction(double fraction, DeviceIndex device) {
  constexpr const char* kName = "cuda::set_per_process_memory_fraction";
  TAPER_CHECK_VALUE(fraction >= 0 && fraction <= 1, kName,
                    ": expected a fraction between 0 and 1, got ", fraction);
  device = checked(device, kName);
  check_runtime(cuda_module(kName).runtime.set_memory_fraction(device, fraction), kName,
                Device(kCUDA, device));
}

}  // namespace taper::cuda

namespace taper::detail {

Device resolve_cuda(Device device) { return Device(kCUDA, cuda::checked(device.index(), "cuda")); }

}  // namespace taper::detail
