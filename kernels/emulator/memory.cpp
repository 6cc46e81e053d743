#include "taper/kernels/emulator/memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>

#include "taper/kernels/emulator/machine.h"
#include "taper/kernels/emulator/sanitizers.h"

namespace taper::emulator {

// ---- Keeping the host out -----------------------------------------------------------------------
//
// With a protection key, each thread of the system opens and closes all device memory for itself in
// 30 ns. Where the processor has none, pages can be closed for everybody while no work runs
// (`protect=pages`), in time that grows with the memory in use.

namespace {

struct Range {
  char* base;
  size_t bytes;
  int device;
};
constexpr int kMaxRanges = 64;
Range ranges[kMaxRanges];
int range_count = 0;
int key = -1;
bool by_pages = false;
std::mutex pages_mutex;
int pages_open = 0;

void open_pages(bool open) {
  for (int i = 0; i < range_count; ++i) {
    if (ranges[i].base) {
      mprotect(ranges[i].base, ranges[i].bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
  }
}

struct sigaction previous_action;

// Where debugging information is missing, the line of the last CUDA call is as near as one gets.
void on_fault(int signal, siginfo_t* info, void* context) {
  const auto* const address = static_cast<const char*>(info->si_addr);
  for (int i = 0; i < range_count; ++i) {
    if (address < ranges[i].base || address >= ranges[i].base + ranges[i].bytes) continue;
    char text[512];
    const CallSite last = host_thread().last_site;
    const int length = std::snprintf(
        text, sizeof text,
        "taper emulator: host code touches device memory: %p, which is on cuda:%d; the last CUDA "
        "call of this thread was at %s:%d\n",
        static_cast<const void*>(address), ranges[i].device, last.file ? last.file : "?",
        last.line);
    if (write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) break;
  }
  if ((previous_action.sa_flags & SA_SIGINFO) && previous_action.sa_sigaction) {
    previous_action.sa_sigaction(signal, info, context);
  } else {
    sigaction(signal, &previous_action, nullptr);  // and the instruction faults again
  }
}

void watch_faults() {
  if constexpr (kAddressSanitizer) return;  // it shows the stack by itself
  static const bool watching = [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, &previous_action) == 0;
  }();
  static_cast<void>(watching);
}

}  // namespace

bool has_protection_keys() {
  if (key < 0) key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
  return key >= 0;
}

void protect_range(void* base, size_t bytes, int device, Protection protection) {
  if (protection == Protection::kAuto || protection == Protection::kKey) {
    if (has_protection_keys()) pkey_mprotect(base, bytes, PROT_READ | PROT_WRITE, key);
  }
  by_pages = protection == Protection::kPages;
  if (range_count < kMaxRanges) {
    Range* free = ranges + range_count;
    for (Range* range = ranges; range != ranges + range_count; ++range) {
      if (!range->base) free = range;
    }
    *free = {static_cast<char*>(base), bytes, device};
    if (free == ranges + range_count) ++range_count;
  }
  if (by_pages) open_pages(pages_open > 0);
  if (by_pages || key >= 0) watch_faults();
}

void unprotect_range(void* base, size_t bytes) {
  for (int i = 0; i < range_count; ++i) {
    if (ranges[i].base == base) ranges[i] = {};
  }
  mprotect(base, bytes, PROT_READ | PROT_WRITE);
}

const char* protection_in_use() { return by_pages ? "pages" : key >= 0 ? "key" : "off"; }

DeviceAccess::DeviceAccess() {
  if (host_thread().access_depth++ > 0) return;
  if (by_pages) {
    const std::lock_guard lock(pages_mutex);
    if (pages_open++ == 0) open_pages(true);
  } else if (key >= 0) {
    pkey_set(key, 0);
  }
}

DeviceAccess::~DeviceAccess() {
  if (--host_thread().access_depth > 0) return;
  if (by_pages) {
    const std::lock_guard lock(pages_mutex);
    if (--pages_open == 0) open_pages(false);
  } else if (key >= 0) {
    pkey_set(key, PKEY_DISABLE_ACCESS);
  }
}

std::string to_text(const CallSite& site) {
  return site.file ? std::string(site.file) + ":" + std::to_string(site.line) : "an unknown place";
}

// ---- A device's memory --------------------------------------------------------------------------

namespace {

// As CUDA aligns; between two allocations, as much again that belongs to nobody.
constexpr size_t kAlign = 512;

}  // namespace

DeviceMemory::DeviceMemory(int device, size_t capacity, const Options& options)
    : capacity_(capacity), fill_(options.fill) {
  // The red zones do not count as used, and need room beside what does.
  void* const memory = mmap(nullptr, 2 * capacity, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<char*>(memory);
  protect_range(base_, 2 * capacity_, device, options.protect);
}

DeviceMemory::~DeviceMemory() {
  unprotect_range(base_, 2 * capacity_);
  permit(base_, end_);
  munmap(base_, 2 * capacity_);
}

void* DeviceMemory::allocate(size_t bytes, CallSite made) {
  const size_t counted = (bytes + kAlign - 1) / kAlign * kAlign;
  const size_t needed = counted + kAlign;
  if (counted < bytes || counted > capacity_ - used_) return nullptr;
  char* memory = nullptr;
  size_t reserved = needed;
  const auto hole = free_.lower_bound(needed);
  if (hole != free_.end() && hole->first <= 2 * needed) {
    memory = hole->second;
    reserved = hole->first;
    free_.erase(hole);
  } else if (needed <= 2 * capacity_ - end_) {
    memory = base_ + end_;
    end_ += needed;
  } else {
    return nullptr;
  }
  used_ += counted;
  live_[memory] = {bytes, reserved, made};
  forbid(memory, reserved);
  permit(memory, bytes);
  if (fill_) {
    const DeviceAccess access;
    fill_unwritten(memory, bytes);
  }
  return memory;
}

bool DeviceMemory::release(void* p) {
  const auto found = live_.find(static_cast<char*>(p));
  if (found == live_.end()) return false;
  const Allocation& allocation = found->second;
  used_ -= (allocation.bytes + kAlign - 1) / kAlign * kAlign;
  forbid(found->first, allocation.reserved);
  free_.emplace(allocation.reserved, found->first);
  live_.erase(found);
  return true;
}

const Allocation* DeviceMemory::find(const void* p, const char** begin) const {
  auto next = live_.upper_bound(static_cast<char*>(const_cast<void*>(p)));
  if (next == live_.begin()) return nullptr;
  const auto& [memory, allocation] = *std::prev(next);
  if (p >= memory + allocation.bytes) return nullptr;
  if (begin) *begin = memory;
  return &allocation;
}

}  // namespace taper::emulator
