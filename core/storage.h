#pragma once

#include <cstddef>
#include <cstdint>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include "taper/core/device.h"
#include "taper/core/macros.h"

namespace taper {

/// The memory behind one or several tensors, counted by reference. The version is raised by every
/// in-place change, so that a backward pass can tell whether what it saved is still what was saved.
struct StorageImpl {
  uint32_t references = 1;
  uint32_t version = 0;
  void* data = nullptr;
  size_t nbytes = 0;
  Device device{kCPU};
  bool pinned = false;
  void (*release)(StorageImpl*) = nullptr;  ///< frees the data and this object
  void* context = nullptr;                  ///< belongs to `release`
};

namespace detail {

/// Whether the process has one thread: then counts need no atomic operations, which are half of
/// what a view costs (std::shared_ptr does the same).
TAPER_INLINE bool single_threaded() {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

TAPER_INLINE void retain(uint32_t& references) {
  if (single_threaded()) {
    ++references;
  } else {
    __atomic_fetch_add(&references, 1u, __ATOMIC_RELAXED);
  }
}
/// True when that was the last reference. A sole owner needs no read-modify-write.
TAPER_INLINE bool release(uint32_t& references) {
  if (__atomic_load_n(&references, __ATOMIC_ACQUIRE) == 1u) return true;
  if (single_threaded()) {
    --references;
    return false;
  }
  return __atomic_fetch_sub(&references, 1u, __ATOMIC_ACQ_REL) == 1u;
}

/// An intrusive pointer: Traits has retain(T*) and release(T*).
template <class T, class Traits>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* adopted) : pointer_(adopted) {}
  static Ref share(T* pointer) {
    if (pointer) Traits::retain(pointer);
    return Ref(pointer);
  }
  Ref(const Ref& other) : pointer_(other.pointer_) {
    if (pointer_) Traits::retain(pointer_);
  }
  Ref(Ref&& other) noexcept : pointer_(other.pointer_) { other.pointer_ = nullptr; }
  Ref& operator=(Ref other) noexcept {
    T* mine = pointer_;
    pointer_ = other.pointer_;
    other.pointer_ = mine;
    return *this;
  }
  ~Ref() {
    if (pointer_) Traits::release(pointer_);
  }

  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  /// Gives up ownership without releasing.
  T* detach() {
    T* mine = pointer_;
    pointer_ = nullptr;
    return mine;
  }

 private:
  T* pointer_ = nullptr;
};

struct StorageTraits {
  static void retain(StorageImpl* storage) { detail::retain(storage->references); }
  static void release(StorageImpl* storage) {
    if (detail::release(storage->references)) storage->release(storage);
  }
};

}  // namespace detail

using StorageRef = detail::Ref<StorageImpl, detail::StorageTraits>;

/// The public handle: `tensor.storage()`.
class Storage {
 public:
  Storage() = default;
  explicit Storage(StorageRef storage) : storage_(static_cast<StorageRef&&>(storage)) {}
  void* data() const { return storage_ ? storage_->data : nullptr; }
  size_t nbytes() const { return storage_ ? storage_->nbytes : 0; }
  bool is_alias_of(const Storage& other) const { return storage_.get() == other.storage_.get(); }
  uint32_t use_count() const { return storage_ ? storage_->references : 0; }

 private:
  StorageRef storage_;
};

/// New memory on `device`, not initialised. Throws OutOfMemoryError when there is none.
TAPER_API StorageRef allocate_storage(size_t nbytes, Device device);
/// The same on a CUDA device, in the order of its current stream.
TAPER_API StorageRef allocate_cuda_storage(size_t nbytes, Device device);
/// Host memory that CUDA devices read and write directly. Throws where there is none.
TAPER_API StorageRef allocate_pinned_storage(size_t nbytes);
/// Memory that somebody else owns: `deleter(context)` is called when the last tensor lets go.
TAPER_API StorageRef borrow_storage(void* data, size_t nbytes, Device device,
                                    void (*deleter)(void* context, void* data), void* context);

}  // namespace taper
