#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support.h"
#include "support/cache.h"
#include "taper/kernels/emulator/control.h"

// What the tests of the runtime share: emulated machines of their own, and memory that is given
// back at the end.

namespace cuda_tests {

using support::kCached;

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;

/// A machine for one test. The module starts over on it; at the end nothing may be left, neither of
/// the test's nor of the module's.
class Machine {
 public:
  explicit Machine(const std::string& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
};

/// A stream of its own, destroyed at the end.
class OwnStream {
 public:
  explicit OwnStream(int device = 0, int priority = 0);
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  operator const Stream&() const { return stream_; }
  const Stream* operator->() const { return &stream_; }

 private:
  Stream stream_;
};

/// Device memory, given back at the end.
class Memory {
 public:
  Memory(size_t bytes, const Stream& stream) {
    require_ok(cuda_runtime().allocate(&memory_, bytes, stream));
  }
  ~Memory() { release(); }
  Memory(Memory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Memory& operator=(Memory&&) = delete;
  void* get() const { return memory_; }
  void release() {
    if (memory_) cuda_runtime().release(std::exchange(memory_, nullptr));
  }

 private:
  void* memory_ = nullptr;
};

/// Pinned memory for numbers, given back at the end.
class PinnedInts {
 public:
  explicit PinnedInts(size_t count, int fill = 0) : count_(count) {
    void* memory = nullptr;
    require_ok(cuda_runtime().allocate_pinned(&memory, count * sizeof(int)));
    memory_ = static_cast<int*>(memory);
    for (size_t i = 0; i < count; ++i) memory_[i] = fill;
  }
  ~PinnedInts() { release(); }
  PinnedInts(const PinnedInts&) = delete;
  PinnedInts& operator=(const PinnedInts&) = delete;
  int* get() const { return memory_; }
  int& operator[](size_t i) { return memory_[i]; }
  void release() {
    if (memory_) cuda_runtime().release_pinned(std::exchange(memory_, nullptr));
  }

 private:
  size_t count_;
  int* memory_ = nullptr;
};

inline DeviceMemoryStats stats_of(int device = 0) {
  DeviceMemoryStats stats{};
  require_ok(cuda_runtime().memory_stats(device, &stats));
  return stats;
}

inline std::string text_of(const Status& status) { return status.what ? status.what : ""; }

inline bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

/// Numbers on the device, and as they are there after everything before.
inline Memory upload(const std::vector<int>& numbers, const Stream& stream) {
  Memory memory(numbers.size() * sizeof(int), stream);
  require_ok(cuda_runtime().copy(memory.get(), stream.device, numbers.data(), kHost,
                                 numbers.size() * sizeof(int), stream, {}, false));
  return memory;
}
inline std::vector<int> download(const Memory& memory, size_t count, const Stream& stream) {
  std::vector<int> numbers(count);
  require_ok(cuda_runtime().copy(numbers.data(), kHost, memory.get(), stream.device,
                                 count * sizeof(int), stream, {}, false));
  return numbers;
}

}  // namespace cuda_tests
