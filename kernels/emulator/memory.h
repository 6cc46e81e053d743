#pragma once

#include <cstddef>
#include <map>

#include "taper/kernels/emulator/options.h"

// Memory of the emulated devices: ordinary pages, which host code may not touch all the same.

namespace taper::emulator {

/// The line of a call from the host; see call_sites.h. `file` is null where nobody said.
struct CallSite {
  const char* file = nullptr;
  int line = 0;
};
/// "file:line", or "an unknown place".
std::string to_text(const CallSite& site);

/// While one lives, this thread of the system may touch device memory. May be nested.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

/// Whether this processor and its system have protection keys.
bool has_protection_keys();
/// Registers address ranges with whatever keeps the host out. The range of a device lives long.
void protect_range(void* base, size_t bytes, int device, Protection protection);
void unprotect_range(void* base, size_t bytes);
/// "key", "pages" or "off"
const char* protection_in_use();

struct Allocation {
  size_t bytes, reserved;
  CallSite made;
};

class DeviceMemory {
 public:
  DeviceMemory(int device, size_t capacity, const Options& options);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Null when there is no room.
  void* allocate(size_t bytes, CallSite made);
  /// False if `p` is not the beginning of an allocation.
  bool release(void* p);

  bool contains(const void* p) const { return p >= base_ && p < base_ + 2 * capacity_; }
  /// The allocation that `p` points into, or null; `begin` gets its address.
  const Allocation* find(const void* p, const char** begin = nullptr) const;
  const std::map<char*, Allocation>& live() const { return live_; }
  size_t capacity() const { return capacity_; }
  size_t used() const { return used_; }

 private:
  char* base_ = nullptr;
  size_t capacity_, used_ = 0, end_ = 0;
  bool fill_;
  std::map<char*, Allocation> live_;
  std::multimap<size_t, char*> free_;
};

}  // namespace taper::emulator
