#include "taper/core/slabs.h"

#include <pthread.h>
#include <sys/mman.h>

#include <mutex>
#include <new>

#include "taper/core/cpu_allocator.h"
#include "taper/core/macros.h"
#include "taper/core/small_alloc.h"

namespace taper::detail {

#if defined(TAPER_NO_CACHE)

void release_free_slabs() noexcept {}

#else

namespace {

constexpr size_t kSlabBytes = size_t{2} << 20;
constexpr uint32_t kSlabsKept = 128;  // 256 MiB, as the cache of larger blocks may always hold

// Stands at the start of its memory, which is aligned to kSlabBytes: so a block finds its slab.
struct alignas(TAPER_CACHE_LINE) Slab {
  Slab* next = nullptr;
  Slab* previous = nullptr;
  void* returned = nullptr;  // list of blocks that are back
  uint32_t used = 0;         // blocks that are out
  uint32_t fresh = 0;        // blocks never given out yet: the last ones
  bool listed = false;       // among the open ones of its class

  bool has_block() const { return returned || fresh; }
};

constexpr size_t block_bytes(size_t index) { return (index + 1) * kSmallStep; }
constexpr uint32_t capacity(size_t index) {
  return static_cast<uint32_t>((kSlabBytes - sizeof(Slab)) / block_bytes(index));
}

Slab* slab_of(void* block) {
  return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) & ~(kSlabBytes - 1));
}

// One lock: a thread comes here once for many blocks. Constant-initialised and never destroyed.
struct Class {
  Slab* open = nullptr;  // slabs with a block to give
  uint32_t slabs = 0;
};
constinit std::mutex mutex;
constinit Class classes[kSmallClasses];
constinit Slab* free_slabs = nullptr;
constinit uint32_t free_count = 0;

void open_slab(Class& of, Slab* slab) {
  slab->listed = true;
  slab->previous = nullptr;
  slab->next = of.open;
  if (of.open) of.open->previous = slab;
  of.open = slab;
}

void close_slab(Class& of, Slab* slab) {
  slab->listed = false;
  (slab->previous ? slab->previous->next : of.open) = slab->next;
  if (slab->next) slab->next->previous = slab->previous;
}

// A fork must not leave the child with a lock that nobody holds.
void survive_forks() {
  static const int registered =
      pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
  (void)registered;
}

Slab* new_slab(size_t index) {
  Class& of = classes[index];
  void* memory = free_slabs;
  if (memory) {
    free_slabs = free_slabs->next;
    --free_count;
  } else {
    memory = map_pages(kSlabBytes);
    if (!memory) return nullptr;
#if defined(MADV_POPULATE_WRITE)
    // The first of a class may stay nearly empty, but who needs a second one fills it: all pages
    // at once cost less than a fault each. (Huge ones cost less yet, unless the system has to make
    // them by moving others: then many times as much.)
    if (of.slabs > 0) madvise(memory, kSlabBytes, MADV_POPULATE_WRITE);
#endif
  }
  Slab* const slab = new (memory) Slab;
  slab->fresh = capacity(index);
  ++of.slabs;
  open_slab(of, slab);
  return slab;
}

void* take_block(Slab* slab, size_t index) {
  ++slab->used;
  if (void* const block = slab->returned) {
    slab->returned = *static_cast<void**>(block);
    return block;
  }
  const size_t position = capacity(index) - slab->fresh--;
  return reinterpret_cast<char*>(slab + 1) + position * block_bytes(index);
}

void unmap_all(Slab* slab) {
  while (slab) {
    Slab* const next = slab->next;
    unmap_pages(slab, kSlabBytes);
    slab = next;
  }
}

}  // namespace

BlockList take_blocks(size_t index, uint32_t count) noexcept {
  survive_forks();
  BlockList list;
  void** end = &list.first;
  const std::lock_guard lock(mutex);
  for (; list.count < count; ++list.count) {
    Slab* slab = classes[index].open;
    if (!slab) slab = new_slab(index);
    if (!slab) break;
    void* const block = take_block(slab, index);
    *end = block;
    end = static_cast<void**>(block);
    if (!slab->has_block()) close_slab(classes[index], slab);
  }
  *end = nullptr;
  return list;
}

void return_blocks(size_t index, void* first) noexcept {
  Class& of = classes[index];
  Slab* surplus = nullptr;
  {
    const std::lock_guard lock(mutex);
    for (void* block = first; block;) {
      void* const next = *static_cast<void**>(block);
      Slab* const slab = slab_of(block);
      *static_cast<void**>(block) = slab->returned;
      slab->returned = block;
      if (!slab->listed) open_slab(of, slab);
      if (--slab->used == 0) {
        close_slab(of, slab);
        --of.slabs;
        const bool keep = free_count < kSlabsKept;
        Slab*& list = keep ? free_slabs : surplus;
        slab->next = list;
        list = slab;
        free_count += keep;
      }
      block = next;
    }
  }
  unmap_all(surplus);
}

void release_free_slabs() noexcept {
  Slab* slabs;
  {
    const std::lock_guard lock(mutex);
    slabs = free_slabs;
    free_slabs = nullptr;
    free_count = 0;
  }
  unmap_all(slabs);
}

#endif

}  // namespace taper::detail
