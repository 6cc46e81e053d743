#include "taper/kernels/backend.h"

#include <cstdlib>
#include <string_view>

#include "taper/core/cpu_allocator.h"
#include "taper/core/error.h"
#include "taper/core/parallel.h"
#include "taper/core/system_memory.h"
#include "taper/kernels/device_module.h"
#include "taper/kernels/streams.h"

// Those that were built (TAPER_CPU_LEVELS) have a macro each.
extern "C" const taper::kernels::CpuModule taper_cpu_table_generic, taper_cpu_table_v2,
    taper_cpu_table_v3, taper_cpu_table_v4;

namespace taper::kernels {

namespace {

struct Candidate {
  const CpuModule* module;
  bool (*runs_here)();
};

// From the least demanding to the best. The compiler's test covers the operating system's part too:
// without it, the wide registers would not survive a change of threads.
const Candidate kCandidates[] = {
#if defined(TAPER_HAS_TABLE_generic)
    {&taper_cpu_table_generic, [] { return true; }},
#endif
#if defined(TAPER_HAS_TABLE_v2)
    {&taper_cpu_table_v2, [] { return __builtin_cpu_supports("x86-64-v2") != 0; }},
#endif
#if defined(TAPER_HAS_TABLE_v3)
    {&taper_cpu_table_v3, [] { return __builtin_cpu_supports("x86-64-v3") != 0; }},
#endif
#if defined(TAPER_HAS_TABLE_v4)
    {&taper_cpu_table_v4, [] { return __builtin_cpu_supports("x86-64-v4") != 0; }},
#endif
};

const CpuModule* current = nullptr;  // null until the first op

std::string list_of_tables() {
  std::string text;
  for (const std::string& name : available_cpu_tables()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

const CpuModule& find_table(std::string_view name, const char* asked_by) {
  for (const Candidate& candidate : kCandidates) {
    if (name != candidate.module->name) continue;
    TAPER_CHECK(candidate.runs_here(), asked_by, ": this processor cannot run the CPU kernels \"",
                std::string(name), "\". It can run: ", list_of_tables());
    return *candidate.module;
  }
  taper::detail::fail<ValueError>(asked_by, ": there are no CPU kernels \"", std::string(name),
                                  "\". This processor can run: ", list_of_tables());
}

const CpuModule& choose_table() {
  const char* wanted = std::getenv("TAPER_CPU");
  if (wanted && *wanted) return find_table(wanted, "TAPER_CPU");
  const CpuModule* best = nullptr;
  for (const Candidate& candidate : kCandidates) {
    if (candidate.runs_here()) best = candidate.module;
  }
  TAPER_CHECK(best, "none of the CPU kernels in this build of Taper runs on this processor");
  return *best;
}

TAPER_COLD const CpuModule& choose_and_keep() {
  const CpuModule& chosen = choose_table();
  __atomic_store_n(&current, &chosen, __ATOMIC_RELAXED);
  return chosen;
}

const CpuModule& module() {
  const CpuModule* const chosen = __atomic_load_n(&current, __ATOMIC_RELAXED);
  return TAPER_LIKELY(chosen != nullptr) ? *chosen : choose_and_keep();
}

// ---- What the CPU kernels may ask of the core.

constexpr HostServices kServices = {
    .parallel_for =
        [](int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t), void* context) {
          taper::detail::parallel_for(0, count, grain, body, context);
        },
    .num_threads = get_num_threads,
    .allocate = [](size_t bytes) { return taper::detail::cpu_try_allocate(bytes); },
    .release = [](void* memory, size_t bytes) { taper::detail::cpu_release(memory, bytes); },
};

}  // namespace

const KernelTable& cpu_table() { return module().table; }

const char* cpu_table_name() { return module().name; }

std::vector<std::string> available_cpu_tables() {
  std::vector<std::string> names;
  for (const Candidate& candidate : kCandidates) {
    if (candidate.runs_here()) names.emplace_back(candidate.module->name);
  }
  return names;
}

void set_cpu_table(const char* name) {
  const CpuModule& chosen = name ? find_table(name, "set_cpu_table") : choose_table();
  __atomic_store_n(&current, &chosen, __ATOMIC_RELAXED);
}

const KernelTable& kernels_for(Device device) {
  if (TAPER_UNLIKELY(device.is_cuda())) return cuda_module("kernels").kernels;
  return module().table;
}

Stream stream_for(Device device) {
  if (TAPER_UNLIKELY(device.is_cuda())) return current_cuda_stream(device.index());
  return Stream{&kServices};
}

std::string index_of_op(const char* op) {
  const std::string name = op;
  return name.find(':') == std::string::npos ? name + "(): index" : name;
}

void fail(const Status& status, const char* op, Device device, ScalarType dtype) {
  namespace d = taper::detail;
  const char* const kind = status.what ? status.what : device.is_cuda() ? "cuda" : "cpu";
  switch (status.code) {
    case Code::kUnsupported:
      if (dtype == ScalarType::Undefined) {
        d::fail<NotImplementedError>("[", op, "] has no ", kind, " kernel for these dtypes");
      }
      d::fail<NotImplementedError>("[", op, "] has no ", kind, " kernel for dtype ",
                                   dtype_name(dtype), " (\"", op, "\" not implemented for '",
                                   to_string(dtype), "')");
    case Code::kIndexOutOfRange:
      if (status.what) fail_runtime(status, op, device);  // an earlier op's: this one has waited
      d::fail<IndexError>(op, ": index ", status.value,
                          " is out of bounds for dimension with size ", status.limit);
    case Code::kInvalidValue:
      d::fail<ValueError>(op, ": ", status.what ? status.what : "invalid value");
    case Code::kOutOfMemory:
      if (status.what) d::fail<OutOfMemoryError>(op, ": ", status.what);
      d::fail<OutOfMemoryError>(op, ": not enough memory: you tried to allocate ", status.value,
                                " bytes (", d::readable_bytes(status.value),
                                ") of scratch memory for a kernel. Hint: take a smaller batch.");
    case Code::kDeviceError:
    case Code::kOk:
      break;
  }
  const char* const what = status.what ? status.what : "unknown error";
  if (device.is_cuda()) d::fail<Error>(op, ": ", device, ": ", what);
  d::fail<Error>(op, ": ", what);
}

}  // namespace taper::kernels
