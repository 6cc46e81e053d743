#include "taper/core/storage.h"

#include <new>

#include "taper/core/cpu_allocator.h"
#include "taper/core/error.h"
#include "taper/core/small_alloc.h"

namespace taper {

namespace {

// Up to here storage and data are one block.
constexpr size_t kTogether = 768;
constexpr size_t kHeader = (sizeof(StorageImpl) + 15) / 16 * 16;
static_assert(kHeader + kTogether <= detail::kSmallLimit);

void release_together(StorageImpl* storage) {
  detail::small_free(storage, kHeader + storage->nbytes);
}

void release_apart(StorageImpl* storage) {
  detail::cpu_release(storage->data, storage->nbytes);
  detail::small_free(storage, sizeof(StorageImpl));
}

struct BorrowedStorage : StorageImpl {
  void (*deleter)(void* context, void* data) = nullptr;
};

void release_borrowed(StorageImpl* storage) {
  BorrowedStorage* const borrowed = static_cast<BorrowedStorage*>(storage);
  const auto deleter = borrowed->deleter;
  void* const context = borrowed->context;
  void* const data = borrowed->data;
  detail::small_free(borrowed, sizeof(BorrowedStorage));
  if (deleter) deleter(context, data);
}

TAPER_COLD StorageImpl* allocate_large(size_t nbytes) {
  void* const data = detail::cpu_allocate(nbytes);
  void* memory;
  try {
    memory = detail::small_alloc(sizeof(StorageImpl));
  } catch (...) {
    detail::cpu_release(data, nbytes);
    throw;
  }
  StorageImpl* const storage = new (memory) StorageImpl;
  storage->data = data;
  storage->release = release_apart;
  return storage;
}

}  // namespace

StorageRef allocate_storage(size_t nbytes, Device device) {
  if (TAPER_UNLIKELY(device.is_cuda())) return allocate_cuda_storage(nbytes, device);
  StorageImpl* storage;
  if (TAPER_LIKELY(nbytes <= kTogether)) {
    void* const memory = detail::small_alloc(kHeader + nbytes);
    storage = new (memory) StorageImpl;
    storage->data = static_cast<char*>(memory) + kHeader;
    storage->release = release_together;
  } else {
    storage = allocate_large(nbytes);
  }
  storage->nbytes = nbytes;
  return StorageRef(storage);
}

StorageRef borrow_storage(void* data, size_t nbytes, Device device,
                          void (*deleter)(void* context, void* data), void* context) {
  BorrowedStorage* const storage =
      new (detail::small_alloc(sizeof(BorrowedStorage))) BorrowedStorage;
  storage->data = data;
  storage->nbytes = nbytes;
  storage->device = device;
  storage->release = release_borrowed;
  storage->context = context;
  storage->deleter = deleter;
  return StorageRef(storage);
}

}  // namespace taper
