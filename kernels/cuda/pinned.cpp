#include "taper/kernels/cuda/pinned.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "taper/kernels/cuda/allocator.h"
#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device_state.h"

namespace taper::kernels::cuda {

namespace {

struct PinnedBlock {
  size_t size;
  bool in_use;
  std::vector<StreamOnDevice> used_on;
  std::vector<StreamMark> waits_for;  ///< freed, and these were not passed when last looked at
};

struct Pinned {
  std::mutex mutex;
  std::map<const char*, PinnedBlock> blocks;
  std::multimap<size_t, char*> free;
  std::vector<char*> waiting;
  int64_t in_use = 0;

  /// The block that `p` points into.
  PinnedBlock* find(const void* p) {
    auto next = blocks.upper_bound(static_cast<const char*>(p));
    if (next == blocks.begin()) return nullptr;
    --next;
    return p < next->first + next->second.size ? &next->second : nullptr;
  }
};
Pinned& pinned() {
  static auto* const made = new Pinned;
  return *made;
}

#if defined(TAPER_NO_CACHE)
constexpr bool kCached = false;
#else
constexpr bool kCached = true;
#endif

size_t size_class(size_t bytes) {
  constexpr size_t kStep = size_t{1} << 20;
  if (!kCached) return bytes;
  if (bytes <= kStep) return std::bit_ceil(std::max<size_t>(bytes, 512));
  return (bytes + kStep - 1) / kStep * kStep;
}

}  // namespace

// Any device that is in use will do; not a first context on another one.
int device_for_pinning() {
  for (int device = 0; device < kMaxDevices; ++device) {
    if (known_state_of(device)) return device;
  }
  return 0;
}

namespace {

cudaError_t ask_system(void** memory, size_t size) {
  const cudaError_t error = cudaHostAlloc(memory, size, cudaHostAllocPortable);
  if (error != cudaSuccess) cudaGetLastError();
  return error;
}

void look_at_waiting(Pinned& all) {
  std::erase_if(all.waiting, [&](char* memory) {
    PinnedBlock& block = all.blocks.find(memory)->second;
    std::erase_if(block.waits_for, [](const StreamMark& mark) { return mark.passed(); });
    if (!block.waits_for.empty()) return false;
    all.free.emplace(block.size, memory);
    return true;
  });
}

Status free_unused(Pinned& all) {
  for (char* const memory : all.waiting) {
    for (const StreamMark& mark : all.blocks.find(memory)->second.waits_for) {
      TAPER_TRY(mark.wait());
    }
  }
  look_at_waiting(all);
  if (all.free.empty()) return {};
  TAPER_ON_DEVICE(device_for_pinning());
  Status first;
  for (const auto& [size, memory] : all.free) {
    all.blocks.erase(memory);
    const cudaError_t error = cudaFreeHost(memory);
    if (error != cudaSuccess && first.ok()) first = failed("cudaFreeHost", error);
  }
  all.free.clear();
  return first;
}

}  // namespace

Status allocate_pinned(void** memory, size_t bytes) {
  *memory = nullptr;
  if (bytes == 0) return {};
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  look_at_waiting(all);
  const size_t size = bytes > SIZE_MAX / 2 ? bytes : size_class(bytes);
  if (const auto found = all.free.lower_bound(size);
      found != all.free.end() && found->first / 2 <= size) {
    *memory = found->second;
    all.free.erase(found);
  } else {
    TAPER_ON_DEVICE(device_for_pinning());
    cudaError_t error = ask_system(memory, size);
    if (error == cudaErrorMemoryAllocation) {
      TAPER_TRY(free_unused(all));
      error = ask_system(memory, size);
    }
    if (error == cudaErrorMemoryAllocation) {
      const auto wanted = static_cast<int64_t>(std::min<size_t>(bytes, INT64_MAX));
      return {Code::kOutOfMemory, wanted, 0,
              keep("cudaHostAlloc: the system does not give " + size_text(wanted) +
                   " of pinned memory. Memory that is pinned cannot be swapped out, and a system "
                   "may limit it (ulimit -l).")};
    }
    if (error != cudaSuccess) return failed("cudaHostAlloc", error);
    all.blocks[static_cast<char*>(*memory)] = {size, false, {}, {}};
  }
  all.find(*memory)->in_use = true;
  ++all.in_use;
  return {};
}

void release_pinned(void* memory) {
  if (!memory) return;
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(static_cast<char*>(memory));
  if (found == all.blocks.end() || !found->second.in_use) return;
  PinnedBlock& block = found->second;
  block.in_use = false;
  --all.in_use;
  for (const StreamOnDevice& use : block.used_on) {
    StreamMark mark;
    if (mark.set_or_wait(use)) block.waits_for.push_back(std::move(mark));
  }
  block.used_on.clear();
  all.waiting.push_back(static_cast<char*>(memory));
  if (!kCached) {
    static_cast<void>(free_unused(all));
  } else {
    look_at_waiting(all);
  }
}

bool is_pinned(const void* memory) {
  Pinned& all = pinned();
  {
    const std::lock_guard lock(all.mutex);
    if (all.find(memory)) return true;
  }
  const DeviceGuard guard(device_for_pinning());  // the call binds whichever is current
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

void record_pinned(const void* memory, const StreamOnDevice& use) {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  PinnedBlock* const block = all.find(memory);
  if (!block) return;
  auto& uses = block->used_on;
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
}

void inherit_pinned(const StreamOnDevice& gone, const StreamOnDevice& heir) {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  for (auto& [memory, block] : all.blocks) {
    for (StreamOnDevice& use : block.used_on) {
      if (use == gone) use = heir;
    }
  }
}

Status empty_pinned() {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  return free_unused(all);
}

void clear_pinned() {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  for (auto& [memory, block] : all.blocks) cudaFreeHost(const_cast<char*>(memory));
  cudaGetLastError();
  all.blocks.clear();
  all.free.clear();
  all.waiting.clear();
  all.in_use = 0;
}

int64_t pinned_in_use() {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  return all.in_use;
}

}  // namespace taper::kernels::cuda
