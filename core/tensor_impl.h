#pragma once

#include <cstdint>

#include "taper/core/array_ref.h"
#include "taper/core/dtype.h"
#include "taper/core/storage.h"

namespace taper {

namespace autograd {
struct Node;
struct AutogradMeta;
}  // namespace autograd

struct TensorImpl;
namespace autograd {
/// Lets go of grad_fn, meta, base and version_override. Called where any of them is set; see
/// autograd/node.cpp.
void release_tape(TensorImpl& impl);
}  // namespace autograd

/// Sizes or strides without an allocation of their own up to a few dimensions.
class TAPER_API Dims {
 public:
  static constexpr int kInline = 5;
  Dims() = default;
  Dims(IntArrayRef values) { assign(values); }
  Dims(const Dims& other) { assign(other); }
  Dims(Dims&& other) noexcept { steal(other); }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) {
      clear();
      steal(other);
    }
    return *this;
  }
  ~Dims() { clear(); }

  void assign(IntArrayRef values) {
    int64_t* to = resize(static_cast<int>(values.size()));
    for (size_t i = 0; i < values.size(); ++i) to[i] = values[i];
  }
  /// Sets the number of entries and returns them; their values are undefined.
  int64_t* resize(int size) {
    if (TAPER_UNLIKELY(size > kInline || heap_)) return resize_slow(size);
    size_ = size;
    return inline_;
  }
  int size() const { return size_; }
  const int64_t* data() const { return heap_ ? heap_ : inline_; }
  int64_t* data() { return heap_ ? heap_ : inline_; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t& operator[](int i) { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  void push_back(int64_t value) {
    const int n = size_;
    if (n < kInline && !heap_) {
      size_ = n + 1;
    } else {
      grow_slow(n + 1);
    }
    data()[n] = value;
  }
  operator IntArrayRef() const { return {data(), static_cast<size_t>(size_)}; }

 private:
  int64_t* resize_slow(int size);
  void grow_slow(int size);
  void clear() {
    if (heap_) delete[] heap_;
    heap_ = nullptr;
    size_ = 0;
  }
  void steal(Dims& other) {
    heap_ = other.heap_;
    size_ = other.size_;
    if (!heap_) {
      for (int i = 0; i < size_; ++i) inline_[i] = other.inline_[i];
    }
    other.heap_ = nullptr;
    other.size_ = 0;
  }

  int64_t* heap_ = nullptr;
  int32_t size_ = 0;
  int64_t inline_[kInline];
};

/// A version counter of its own, for tensors that do not follow that of their storage.
struct VersionCounter {
  uint32_t references = 1;
  uint32_t version = 0;
};

/// What a Tensor handle points to: a strided view of a storage, and its place in the tape.
struct TAPER_API TensorImpl {
  uint32_t references = 1;
  ScalarType dtype = ScalarType::Undefined;
  bool requires_grad = false;      ///< set on leaves; a result requires grad when it has a grad_fn
  bool is_contiguous = true;       ///< dense and row-major; kept by set_geometry
  bool is_wrapped_number = false;  ///< made from a Scalar: takes part in promotion by kind only
  bool is_inference = false;       ///< made in inference mode: never recorded
  bool view_in_no_grad = false;    ///< a view made while recording was off: not for in-place later
  bool view_of_many = false;       ///< one of the views of split or unbind, or a view of one
  uint32_t output_nr = 0;          ///< which output of grad_fn this is
  uint32_t view_version = 0;       ///< version at which grad_fn of a view was made
  int64_t numel = 0;
  int64_t offset = 0;  ///< in elements, from the start of the storage
  StorageRef storage;
  Dims sizes;
  Dims strides;
  autograd::Node* grad_fn = nullptr;       ///< owned; null on leaves
  autograd::AutogradMeta* meta = nullptr;  ///< owned; what few tensors need: grad, hooks
  TensorImpl* base = nullptr;  ///< owned; the tensor this is a view of, never a view itself
  VersionCounter* version_override = nullptr;  ///< owned; from `variable_data` or `set_data`

  TensorImpl() = default;
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;
  ~TensorImpl();

  void* data() const {
    return static_cast<char*>(storage->data) + offset * static_cast<int64_t>(element_size(dtype));
  }
  uint32_t& version() const {
    return version_override ? version_override->version : storage->version;
  }
  int dim() const { return sizes.size(); }
  /// Sets sizes and strides and what follows from them. Sizes must have been checked.
  void set_geometry(IntArrayRef new_sizes, IntArrayRef new_strides);
  /// The same for a dense row-major tensor, with the check: throws for `op` where the number of
  /// elements, of bytes or a stride would overflow.
  void set_contiguous(IntArrayRef new_sizes, const char* op = "empty");

  // From a thread's free list: an impl is made and dropped with every op.
  static void* operator new(size_t size);
  static void operator delete(void* memory, size_t size);
};

namespace detail {
TAPER_API void destroy(TensorImpl* impl);
struct TensorTraits {
  static void retain(TensorImpl* impl) { detail::retain(impl->references); }
  static void release(TensorImpl* impl) {
    if (detail::release(impl->references)) destroy(impl);
  }
};
}  // namespace detail

using TensorImplRef = detail::Ref<TensorImpl, detail::TensorTraits>;

}  // namespace taper
