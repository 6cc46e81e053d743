// core/cuda.h and core/cuda_memory.h: what they ask, the module answers.

#include <atomic>

#include "taper/core/cuda_memory.h"
#include "taper/core/error.h"
#include "taper/core/generator.h"
#include "taper/core/thread_state.h"
#include "taper/kernels/device_module.h"
#include "taper/kernels/streams.h"

namespace taper::cuda {

using kernels::check_runtime;
using kernels::cuda_module;
using kernels::DeviceRuntime;
using kernels::find_cuda_module;
using kernels::Status;

namespace {

using taper::detail::thread_state;

DeviceIndex checked(int64_t device, const char* what) {
  const int count = kernels::cuda_device_count(what);
  if (device == -1) return thread_state.cuda_device;
  TAPER_CHECK(device >= 0 && device < count, what, ": there is no device cuda:", device,
              "; this machine has ",
              count == 1 ? std::string("one: cuda:0")
                         : std::to_string(count) + ", cuda:0 to cuda:" + std::to_string(count - 1));
  return static_cast<DeviceIndex>(device);
}

/// Calls the runtime's entry with the device's number (-1: the current one's) and `arguments`.
template <class... P, class... A>
void ask(const char* what, Status (*kernels::DeviceRuntime::*entry)(int, P...), DeviceIndex device,
         A... arguments) {
  device = checked(device, what);
  check_runtime((cuda_module(what).runtime.*entry)(device, arguments...), what,
                Device(kCUDA, device));
}

/// Taper's tensors and, in this thread, CUDA's own calls: kernels of the program go there too.
void choose_device(DeviceIndex device, const char* what) {
  check_runtime(cuda_module(what).runtime.set_device(device, /*only_if_used=*/false), what,
                Device(kCUDA, device));
  thread_state.cuda_device = device;
}

kernels::DeviceProperties properties_of(DeviceIndex device, const char* what) {
  kernels::DeviceProperties properties{};
  ask(what, &DeviceRuntime::properties, device, &properties);
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
  choose_device(checked(device, "cuda::set_device"), "cuda::set_device");
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
  ask(kName, &DeviceRuntime::can_access_peer, device, int{checked(peer, kName)}, &answer);
  return answer;
}

Versions versions() {
  kernels::DeviceVersions from{};
  check_runtime(cuda_module("cuda::versions").runtime.versions(&from), "cuda::versions",
                Device(kCUDA, thread_state.cuda_device));
  return {from.driver, from.runtime, from.blas, from.dnn, from.blas_problem, from.dnn_problem};
}

namespace {
std::atomic<bool> tf32_matmul{false}, tf32_cudnn{true};
}

bool allow_tf32_matmul() { return tf32_matmul.load(std::memory_order_relaxed); }
void set_allow_tf32_matmul(bool allow) { tf32_matmul = allow; }
bool allow_tf32_cudnn() { return tf32_cudnn.load(std::memory_order_relaxed); }
void set_allow_tf32_cudnn(bool allow) { tf32_cudnn = allow; }

void synchronize(int64_t device_index) {
  constexpr const char* kName = "cuda::synchronize";
  ask(kName, &DeviceRuntime::device_synchronize, checked(device_index, kName));
}

// Before any device is used, "the current one" is device 0; without CUDA there is none to seed.
void manual_seed(uint64_t seed) {
  if (!is_available()) return;
  taper::detail::seed_cuda_generators(seed, thread_state.cuda_device);
}
void manual_seed_all(uint64_t seed) { taper::detail::seed_cuda_generators(seed, -1); }

DeviceGuard::DeviceGuard(DeviceIndex device) : before_(thread_state.cuda_device), now_(before_) {
  set_index(device);
}
DeviceGuard::DeviceGuard(Device device) : before_(thread_state.cuda_device), now_(before_) {
  set_device(device);
}
void DeviceGuard::set_index(DeviceIndex device) {
  device = checked(device, "cuda::DeviceGuard");
  choose_device(device, "cuda::DeviceGuard");
  now_ = device;
}
void DeviceGuard::set_device(Device device) {
  TAPER_CHECK(device.is_cuda(), "cuda::DeviceGuard: expected a CUDA device, got ", device);
  set_index(device.index());
}
DeviceGuard::~DeviceGuard() {
  if (thread_state.cuda_device == before_) return;
  thread_state.cuda_device = before_;
  (void)cuda_module("cuda::DeviceGuard").runtime.set_device(before_, /*only_if_used=*/true);
}

// ---- Memory.

namespace {

kernels::DeviceMemoryStats stats_of(DeviceIndex device, const char* what) {
  kernels::DeviceMemoryStats stats{};
  ask(what, &DeviceRuntime::memory_stats, device, &stats);
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
  ask("cuda::reset_peak_memory_stats", &DeviceRuntime::reset_peak_memory_stats, device);
}

void reset_accumulated_memory_stats(DeviceIndex device) {
  ask("cuda::reset_accumulated_memory_stats", &DeviceRuntime::reset_accumulated_memory_stats,
      device);
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
  const char* text = nullptr;
  ask("cuda::memory_summary", &DeviceRuntime::memory_summary, device, &text);
  return text;
}

std::pair<int64_t, int64_t> mem_get_info(DeviceIndex device) {
  int64_t free = 0, total = 0;
  ask("cuda::mem_get_info", &DeviceRuntime::memory_info, device, &free, &total);
  return {free, total};
}

// Nothing was cached by a module that was never loaded.
void empty_cache() {
  if (!kernels::cuda_module_is_loaded()) return;
  check_runtime(cuda_module("cuda::empty_cache").runtime.empty_cache(), "cuda::empty_cache",
                Device(kCUDA, thread_state.cuda_device));
}

void set_per_process_memory_fraction(double fraction, DeviceIndex device) {
  constexpr const char* kName = "cuda::set_per_process_memory_fraction";
  TAPER_CHECK_VALUE(fraction >= 0 && fraction <= 1, kName,
                    ": expected a fraction between 0 and 1, got ", fraction);
  ask(kName, &DeviceRuntime::set_memory_fraction, device, fraction);
}

}  // namespace taper::cuda

namespace taper::detail {

Device resolve_cuda(Device device) { return Device(kCUDA, cuda::checked(device.index(), "cuda")); }

}  // namespace taper::detail
